"""One turn of the official Python SDK, with a permission callback.

    permission_turn.py CLI PROMPT

Prints what the application saw, as one line of JSON.
"""

import json
import sys

import anyio
from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    ResultMessage,
    TextBlock,
)


async def main(cli, prompt):
    asked, texts, result = [], [], None

    async def can_use_tool(tool, tool_input, context):
        asked.append(tool)
        return PermissionResultAllow(updated_input=tool_input)

    options = ClaudeAgentOptions(
        cli_path=cli, can_use_tool=can_use_tool, setting_sources=[], permission_mode="default"
    )
    async with ClaudeSDKClient(options=options) as client:
        await client.query(prompt)
        async for message in client.receive_response():
            if isinstance(message, AssistantMessage):
                texts += [block.text for block in message.content if isinstance(block, TextBlock)]
            elif isinstance(message, ResultMessage):
                result = {"text": message.result, "is_error": message.is_error}
    print(json.dumps({"asked": asked, "texts": texts, "result": result}))


anyio.run(main, *sys.argv[1:])
