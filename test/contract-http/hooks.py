"""What a schema can not say: rules between two members, and refusals by the state of the service."""

import re
from urllib.parse import unquote

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.generation import GenerationMode
from schemathesis.openapi.checks import RejectedPositiveData

# A valid request may meet a state that refuses it. Each of these is documented for the operations that answer it.
REFUSED_BY_STATE = {
    # Making an agent takes no `If-Match`, replacing it takes one.
    "PRECONDITION_FAILED",
    "IF_MATCH_REQUIRED",
    # The parent, or the tools to load, are names that this tenant does not have.
    "UNKNOWN_PARENT",
    "NOTHING_LOADED",
}


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """False for what is no failure: only the problem's code tells a refusal by state from one of invalid data, for both may be 422."""
    if isinstance(failure, RejectedPositiveData):
        return response.json()["code"] not in REFUSED_BY_STATE
    if isinstance(failure, AcceptedNegativeData) and case.operation.label == "POST /v1/tools/sync":
        # Entries of a sync are judged one by one: a wrong one is refused in the answer, and the others are taken.
        return response.json()["rejected"] == []
    return True


@schemathesis.hook
def before_call(context, case, kwargs):
    """Makes a valid case keep the rules that no schema can tell, so that it gets beyond them."""
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    # A cursor is opaque: none but one that was given out is valid.
    if case.query is not None:
        case.query.pop("cursor", None)
    # `*` is the state that is there, whichever it is. A new agent has none.
    if case.method == "PATCH" or (case.method == "PUT" and "If-Match" in (case.headers or {})):
        case.headers["If-Match"] = "*"
    if isinstance(case.body, dict):
        agent = (case.path_parameters or {}).get("agentId")
        keep_rules(case.body, None if agent is None else unquote(str(agent)))


def keep_rules(body, agent):
    for document in (body, body.get("draft")):
        if agent is not None and isinstance(document, dict) and isinstance(document.get("agentId"), str):
            document["agentId"] = agent
    # A revision that is still to come is waited for, for 2 s, and then told as 503: rightly, but no case needs the wait.
    if isinstance(body.get("minRevision"), (int, float)):
        body["minRevision"] = min(body["minRevision"], 1)
    # A key expires in the future. 2996 is a leap year.
    if isinstance(body.get("expiresAt"), str):
        body["expiresAt"] = re.sub(r"^\d{4}", "2996", body["expiresAt"])
    # Each category, and each agent, once.
    for member, name in (("categories", "key"), ("agents", "agentId")):
        if isinstance(body.get(member), list):
            body[member] = list({entry[name]: entry for entry in body[member]}.values())
