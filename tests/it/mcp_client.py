"""Answers all steps of the bundled launch with the official SDK: what the scripts answered in a run before, read as resources."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters

HOW = json.load(open("how.json"))


async def call(client, tool, **args):
    told = await client.call_tool(tool, args)
    return told.structured_content


async def main():
    server = HOW["server"]
    if "url" in server:
        target = server["url"]
    else:
        target = StdioServerParameters(command=server["command"], args=server["args"], env=server["env"])
    async with Client(target) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "get_next_step" in names, names
        prompt = await client.get_prompt("worker")
        assert "get_next_step" in prompt.messages[0].content.text
        begun = await call(client, "start_run", parallel=4)
        assert begun["state"] == "running", begun
        answers = {key: list(paths) for key, paths in HOW["answers"].items()}

        async def work(name):
            count = 0
            while True:
                step = await call(client, "get_next_step", session_id=begun["session_id"], worker=name, timeout_ms=5000)
                if step["done"]:
                    assert "error" not in step, step
                    return count
                if not step["available"]:
                    continue
                path = answers[step["case_id"] + "/" + step["node"]].pop(0)
                uri = f"asterisk://runs/{HOW['run']}/cases/{step['case_id']}/artifact/{path}"
                artifact = json.loads((await client.read_resource(uri)).contents[0].text)
                told = await call(
                    client, "submit_artifact", dispatch_id=step["dispatch_id"], ticket=step["ticket"], artifact=artifact
                )
                assert told.get("accepted"), told
                count += 1

        counts = await asyncio.gather(*(work(f"w{number}") for number in range(4)))
        report = await call(client, "get_report")
        assert report["state"] == "done", report
        print(begun["run"], counts, [key for key, left in answers.items() if left])


asyncio.run(asyncio.wait_for(main(), 120))
sys.stdout.flush()
