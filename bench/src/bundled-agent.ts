import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { unique } from '@crux/test-kit'
import { FakeServer, spawnAgent } from '../../apps/agent/test/kit/index.ts'

const bundle = fileURLToPath(new URL('../../apps/agent/dist/bundle/agent.mjs', import.meta.url))

/** How the server and the agent's image start the agent. */
export function bundledAgent() {
  if (!existsSync(bundle)) throw new Error('the agent is not built: node scripts/build-all.ts')
  const nodeOptions = ['--max-semi-space-size=1', '--optimize-for-size']
  return { main: bundle, nodeOptions, env: { MALLOC_ARENA_MAX: '1' } }
}

/** The bundle of the agent, connected to the plain server of its tests. */
export async function startBundledAgent({
  agentImage,
  kubeconfig,
  nodeId = unique('node'),
  teamId = 'bench',
}: {
  agentImage?: string
  kubeconfig?: string
  nodeId?: string
  teamId?: string
} = {}) {
  const program = bundledAgent()
  const dataDir = await mkdtemp(join(tmpdir(), 'crux-bench-agent-'))
  const server = new FakeServer()
  await server.start()
  server.scope = { teamId, nodeId }
  const token = server.newInstallToken()
  const cluster = { ...(kubeconfig !== undefined && { kubeconfig }), ...(agentImage !== undefined && { agentImage }) }
  const agent = spawnAgent(server, { dataDir, token, nodeId, ...program, ...cluster })
  const end = async () => {
    agent.child.kill()
    await agent.exited
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
  try {
    await server.waitForLink()
  } catch (error) {
    await end()
    throw new Error(`the agent does not connect: ${agent.output()}`, { cause: error })
  }
  return {
    server,
    nodeId,
    teamId,
    pid: agent.child.pid ?? 0,
    /** @returns how many containers the prefix has */
    async list(prefix: string): Promise<number> {
      const result = await server.ask({ case: 'listContainers', value: { prefix } })
      if (result.case !== 'containers') throw new Error(JSON.stringify(result))
      server.responses.clear()
      return result.value.containers.length
    },
    end,
  }
}
