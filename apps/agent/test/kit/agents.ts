import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLogger } from '@crux/service-kit'
import { type Agent, readSettings, startAgent } from '../../src/index.ts'
import type { FakeServer } from './fake-server.ts'

export interface TestAgent {
  agent: Agent
  dataDir: string
  stop(): Promise<void>
  dispose(): Promise<void>
}

export interface AgentOptions {
  dataDir: string
  token?: string
  nodeId?: string
  dockerHost?: string
  kubeconfig?: string
  stateNamespace?: string
  rootDomain?: string
  namespaces?: readonly string[]
  /** The image of the agent in the cluster. */
  agentImage?: string
  /** A file with certificates that it trusts besides the usual ones. */
  authorityFile?: string
}

/** The real agent, in this process, connected to a server of the test. */
export async function startTestAgent(server: FakeServer, options: Partial<AgentOptions> = {}): Promise<TestAgent> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'crux-agent-')))
  const settings = readSettings(toEnvironment(server, { ...options, dataDir }))
  const agent = await startAgent(settings, createLogger({ name: 'agent', level: settings.logLevel }))
  agent.ended.catch(() => undefined)
  return {
    agent,
    dataDir,
    stop: () => agent.stop(),
    async dispose() {
      await agent.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** The real agent as a process of its own, to be killed. */
export function spawnAgent(
  server: Pick<FakeServer, 'url'>,
  options: AgentOptions & { main?: string; nodeOptions?: string[]; env?: Record<string, string> },
): { child: ChildProcess; exited: Promise<{ code: number | null; signal: string | null }>; output: () => string } {
  const main = options.main ?? fileURLToPath(new URL('../../src/main.ts', import.meta.url))
  const child = spawn(process.execPath, [...(options.nodeOptions ?? []), main], {
    env: { ...process.env, ...toEnvironment(server, options), LOG_LEVEL: 'info', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  return { child, exited, output: () => output }
}

function toEnvironment(server: Pick<FakeServer, 'url'>, options: AgentOptions): Record<string, string> {
  return {
    CRUX_URL: server.url,
    ...(options.nodeId === undefined ? {} : { CRUX_NODE_ID: options.nodeId }),
    CRUX_DATA_DIR: options.dataDir,
    ...(options.token ? { CRUX_TOKEN: options.token } : {}),
    ...(options.dockerHost ? { DOCKER_HOST: options.dockerHost } : {}),
    ...(options.rootDomain ? { ROOT_DOMAIN: options.rootDomain } : {}),
    ...(options.kubeconfig ? { CRUX_KUBECONFIG: options.kubeconfig } : {}),
    ...(options.stateNamespace ? { CRUX_STATE_NAMESPACE: options.stateNamespace } : {}),
    ...(options.namespaces ? { CRUX_NAMESPACES: options.namespaces.join(',') } : {}),
    ...(options.agentImage ? { CRUX_AGENT_IMAGE_IN_CLUSTER: options.agentImage } : {}),
    ...(options.authorityFile ? { NODE_EXTRA_CA_CERTS: options.authorityFile } : {}),
    LOG_LEVEL: process.env.AGENT_LOG_LEVEL ?? 'fatal',
  }
}
