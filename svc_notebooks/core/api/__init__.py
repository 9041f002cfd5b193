"""The operations of the interface and their OpenAPI description.

operations, parameters, public_endpoints       tables: methods and paths, query parameters, pages and token endpoints
json_schemas, openapi, openapi_public          JSON Schemas of the resources, and the OpenAPI document
costs, error_rules                             the units that requests cost, and the rule behind each refusal
"""
