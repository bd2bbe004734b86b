#!/bin/sh
# What a runtime does, with nothing but curl: sync a tool, decide, ask again with the ETag, check calls, read refusals.
#   TOOLCRIB_URL=http://127.0.0.1:3000 TOOLCRIB_KEY=tck_… sh examples/consumer.sh
# The key needs the scopes `sync`, `decide` and, to make the agent, `governance:write`.
set -eu

: "${TOOLCRIB_URL:?where Toolcrib answers, for instance http://127.0.0.1:3000}" "${TOOLCRIB_KEY:?a key of a tenant}"
AGENT=${TOOLCRIB_AGENT:-consumer}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# call METHOD PATH BODY [HEADER]: the status. The body of the answer is then in $work/body, its headers are in $work/headers.
call() {
  curl -sS -X "$1" "$TOOLCRIB_URL$2" -d "$3" -H "Authorization: Bearer $TOOLCRIB_KEY" -H 'Content-Type: application/json' \
    -H "${4:-Accept: application/json}" -D "$work/headers" -o "$work/body" -w '%{http_code}'
}

# expect STATUS …: ends with the problem where the answer is another one. The statuses of Toolcrib are its contract.
expect() {
  wanted=$1
  shift
  got=$(call "$@")
  [ "$got" = "$wanted" ] && return
  echo "$1 $2 answered $got: $(member detail)" >&2
  exit 1
}

# A text, or a word or number, of the answer. Where jq is at hand, take jq.
member() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p;t;s/.*\"$1\":\([a-z0-9]*\).*/\1/p" "$work/body"; }
header() { tr -d '\r' <"$work/headers" | sed -n "s/^$1: //ip"; }

# 1. At its start a runtime declares what it can do. The same again changes nothing.
expect 200 POST /v1/tools/sync '{"source": "consumer-sh", "mode": "partial", "tools": [{"name": "read_page", "description": "Read one page of the web.",
  "kind": "read", "runtime": {"network": true},
  "inputSchema": {"type": "object", "properties": {"url": {"type": "string", "minLength": 1}}, "required": ["url"], "additionalProperties": false}}]}'
echo "synced: revision $(member revision)"

# 2. Who may have it is the word of ops, not of the runtime. An import makes the agent or overwrites it.
expect 200 POST /v1/agents/import "{\"agents\": [{\"agentId\": \"$AGENT\", \"tools\": {\"enabled\": [\"read_page\"]}}]}"
revision=$(header X-Toolcrib-Revision)

# 3. Every turn: what has the agent now? `minRevision` keeps a replica that has not heard of the write above from answering.
question="{\"agentId\": \"$AGENT\", \"include\": [\"reasons\", \"routes\"], \"minRevision\": $revision}"
expect 200 POST /v1/decide "$question"
etag=$(header ETag)
echo "decided: $(sed 's/.*"toolNames":\(\[[^]]*\]\).*/\1/' "$work/body")"

# 4. The next turn asks with the ETag: 304 says that nothing has changed, and sends nothing.
expect 304 POST /v1/decide "$question" "If-None-Match: $etag"
echo 'decided again: not modified'

# 5. Before a call: may it be made? Permission and arguments, by the same rules.
expect 200 POST /v1/check "{\"agentId\": \"$AGENT\", \"toolName\": \"read_page\", \"arguments\": {\"url\": \"https://example.org\"}}"
echo "checked: $(member code)"

# 6. A refusal is an answer, 200 too. Its message is written for the model, and `errors` says where the arguments are wrong.
expect 200 POST /v1/check "{\"agentId\": \"$AGENT\", \"toolName\": \"read_page\", \"arguments\": {}}"
echo "refused: $(sed 's/.*"code":"\([A-Z_]*\)".*/\1/' "$work/body")"

# 7. A question that can not be answered is a problem document (RFC 9457). Programs read its `code`, people its `detail`.
expect 404 POST /v1/decide '{"agentId": "nobody-of-this-name"}'
echo "problem: $(member code), $(member detail)"
