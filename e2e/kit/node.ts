import { unique, type World } from '@crux/test-kit'

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
