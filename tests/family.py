"""The names and the settings of other deployments of the family, as docs/deployments.md shows them."""

import re
from pathlib import Path

import svc_notebooks as svc

PAGE = Path(__file__).parents[1] / "docs" / "deployments.md"
_values: dict[str, object] = {"svc": svc}
for _block in re.findall(r"^(?:names|policy) = svc\.\w+\(\n.*?^\)", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL):
    exec(_block, _values)
FAMILY, FAMILY_POLICY = _values["names"], _values["policy"]
assert isinstance(FAMILY, svc.Names)
assert isinstance(FAMILY_POLICY, svc.Policy)
