import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestEnvironment, unique } from '@crux/test-kit'

/** The data that identifies the agent of the node of the test environment. */
type RunningAgents = { system: { dataDir: string }; testEnvironment: TestEnvironment }

/** Creates a node with an install token, as the page does. */
export async function newNode(
  testEnvironment: TestEnvironment,
): Promise<{ nodeId: string; token: string; command: string; script: string }> {
  const { client } = testEnvironment.user
  const params = { teamSlug: testEnvironment.teamSlug }
  const node = await client.call('nodes.create', { params, body: { name: unique('node-') } })
  const install = await client.call('nodes.create-script', {
    params: { ...params, nodeId: node.id },
    body: { type: 'docker', scriptType: 'shell', workloadName: unique('crux-agent-') },
  })
  const token = /crux_[A-Za-z0-9_-]+/.exec(install.command)?.[0]
  if (!token) throw new Error(`no token in: ${install.command}`)
  return { nodeId: node.id, token, command: install.command, script: install.script }
}

export const getStatus = async (testEnvironment: TestEnvironment, nodeId: string): Promise<string> =>
  (await testEnvironment.user.client.call('nodes.get', { params: { teamSlug: testEnvironment.teamSlug, nodeId } }))
    .status

/** The data directory of the agent of the node. Other journeys of the same system may have agents beside it. */
export const agentDirectory = ({ system, testEnvironment }: RunningAgents): string =>
  join(system.dataDir, 'agents', testEnvironment.nodeId)

/** The process of that agent, which the server restarts when it ends. */
export function agentPid(testSystem: RunningAgents): number {
  const directory = agentDirectory(testSystem)
  const found = readdirSync('/proc').find((entry) => {
    if (!/^\d+$/.test(entry)) return false
    try {
      return (
        /agent/.test(readFileSync(`/proc/${entry}/cmdline`, 'utf8')) &&
        readFileSync(`/proc/${entry}/environ`, 'utf8').includes(directory)
      )
    } catch {
      return false
    }
  })
  if (!found) throw new Error('no agent process')
  return Number(found)
}
