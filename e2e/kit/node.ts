import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { unique, type World } from '@crux/test-kit'

/** What tells where the agent of the world's node runs. */
type RunningAgents = { system: { dataDir: string }; world: World }

/** A new node with an install token, as a person gets it on the page. */
export async function newNode(
  world: World,
): Promise<{ nodeId: string; token: string; command: string; script: string }> {
  const { client } = world.person
  const params = { teamSlug: world.teamSlug }
  const node = await client.call('nodes.create', { params, body: { name: unique('node-') } })
  const install = await client.call('nodes.create-script', {
    params: { ...params, nodeId: node.id },
    body: { type: 'docker', scriptType: 'shell', workloadName: unique('crux-agent-') },
  })
  const token = /crux_[A-Za-z0-9_-]+/.exec(install.command)?.[0]
  if (!token) throw new Error(`no token in: ${install.command}`)
  return { nodeId: node.id, token, command: install.command, script: install.script }
}

export const statusOf = async (world: World, nodeId: string): Promise<string> =>
  (await world.person.client.call('nodes.get', { params: { teamSlug: world.teamSlug, nodeId } })).status

/** The data folder of the agent of the world's node. Other journeys of the same system may have agents beside it. */
export const agentFolder = ({ system, world }: RunningAgents): string => join(system.dataDir, 'agents', world.nodeId)

/** The process of that agent, which the server starts anew when it ends. */
export function agentPid(stage: RunningAgents): number {
  const folder = agentFolder(stage)
  const found = readdirSync('/proc').find((entry) => {
    if (!/^\d+$/.test(entry)) return false
    try {
      return (
        /agent/.test(readFileSync(`/proc/${entry}/cmdline`, 'utf8')) &&
        readFileSync(`/proc/${entry}/environ`, 'utf8').includes(folder)
      )
    } catch {
      return false
    }
  })
  if (!found) throw new Error('no agent process')
  return Number(found)
}
