"""The operations of the interface and their OpenAPI description.

operations, parameters, public_endpoints       tables: operations, their parameters, pages and token endpoints
json_schemas, openapi                          JSON Schemas of the resources, and the OpenAPI document
error_rules                                    the rule behind each error
"""
