import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ReportDeploymentRequest } from '@crux/agent-protocol'
import { migrate, testDatabase } from '@crux/postgres'
import { createLogger, createMetrics } from '@crux/service-kit'
import type { Actor, TeamContext } from '../src/access/actor.ts'
import type { DeploymentPort, LinkedAgent } from '../src/agent-links/links.ts'
import { createPostgresBus } from '../src/bus/postgres-bus.ts'
import type { Config } from '../src/config/config.ts'
import type { App } from '../src/context.ts'
import { createCipher, generateKey } from '../src/crypto/cipher.ts'
import { openServerDatabase } from '../src/db/open-database.ts'
import * as schema from '../src/db/schema/index.ts'
import { createGateway } from '../src/gateway/gateway.ts'
import { createNodeLinks } from '../src/gateway/node-links.ts'
import { issueInstallToken } from '../src/nodes/install-token.ts'
import { migrationsDirectory } from '../src/places.ts'
import { ScriptedAgent } from './scripted-agent.ts'

export const log = createLogger({ name: 'test', level: (process.env.TEST_LOG as 'fatal') ?? 'fatal' })
const key = generateKey()

/** A database with the schema of the server, cloned for one test file. */
export const makeDatabase = () =>
  testDatabase({ key: 'server', migrate: (url) => migrate({ url, directory: migrationsDirectory, schema: 'crux' }) })

/** Deployments that record the calls of the gateway, and return what a test sets. */
export class RecordingPort implements DeploymentPort {
  readonly linkedAgents: LinkedAgent[] = []
  readonly lostAgents: LinkedAgent[] = []
  readonly newKeys: string[] = []
  readonly reports: { nodeId: string; batch: ReportDeploymentRequest }[] = []
  answer: bigint = 0n
  async positions(agent: LinkedAgent) {
    return agent.info.openReleases.map((release) => ({ release, acknowledgedSequence: 7n, abandoned: false }))
  }
  async keyChanged({ nodeId }: LinkedAgent) {
    this.newKeys.push(nodeId)
  }
  linked(agent: LinkedAgent) {
    this.linkedAgents.push(agent)
  }
  linkLost(agent: LinkedAgent) {
    this.lostAgents.push(agent)
  }
  async report({ nodeId }: { nodeId: string }, batch: ReportDeploymentRequest) {
    this.reports.push({ nodeId, batch })
    return this.answer
  }
}

/** One server process as agents see it: real database, bus and HTTP/2, without the rest of the server. */
export async function makeGateway(options: { databaseUrl: string; config?: Partial<Config> }) {
  const dataDir = mkdtempSync(join(tmpdir(), 'crux-gateway-'))
  const database = openServerDatabase({ url: options.databaseUrl, max: 5 })
  const hub = createPostgresBus({ url: options.databaseUrl, database, log })
  await hub.ready
  // Only the settings that the gateway and the node domains read.
  const config = {
    host: '127.0.0.1',
    port: 0,
    url: 'http://localhost:8000',
    trustedProxies: [],
    dataDir,
    embedded: true,
    logLevel: 'fatal',
    ...options.config,
  } as Config
  const links = createNodeLinks({ database, log })
  const app = {
    config,
    log,
    database,
    bus: hub.bus,
    cipher: createCipher({ key }),
    metrics: createMetrics(),
    links,
  } as unknown as App
  const port = new RecordingPort()
  const gateway = createGateway(app, links, port)
  const server = createServer(gateway.listener() as never)
  gateway.watch(server)
  await gateway.start()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sessions = new Set<{ destroy(): void }>()
  server.on('session', (session) => {
    sessions.add(session)
    session.on('error', () => undefined)
  })

  async function closeServer() {
    for (const session of sessions) session.destroy()
    await new Promise((resolve) => server.close(resolve))
    await hub.stop()
    await database.close()
    rmSync(dataDir, { recursive: true, force: true })
  }

  return {
    app,
    url,
    links,
    port,
    gateway,
    async stop() {
      await gateway.stop()
      await closeServer()
    },
    /** As kill -9 does: the agents are not notified. */
    crash: closeServer,
  }
}
export type TestGateway = Awaited<ReturnType<typeof makeGateway>>

export async function makeTeam(app: App): Promise<TeamContext> {
  const slug = `t${randomUUID().slice(0, 8)}`
  const [row] = await app.database.db
    .insert(schema.team)
    .values({ name: slug, slug, createdBy: 'ada', updatedBy: 'ada' })
    .returning()
  if (!row) throw new Error('no team')
  return { id: row.id, slug, name: slug, role: 'owner', secondFactorRequired: false }
}

export const actor: Actor = {
  kind: 'user',
  id: 'ada',
  name: 'Ada',
  email: 'ada@example.com',
  sessionId: 'session',
  authenticatedAt: new Date(),
  sessionExpiresAt: new Date(Date.now() + 3_600_000),
  aal: 'aal1',
  recovered: false,
}

export async function makeNode(app: App, team: TeamContext, name = `node ${randomUUID().slice(0, 8)}`) {
  const [row] = await app.database.db
    .insert(schema.node)
    .values({ name, teamId: team.id, createdBy: 'ada', updatedBy: 'ada' })
    .returning()
  if (!row) throw new Error('no node')
  return row
}

export async function makeInstallToken(app: App, nodeId: string): Promise<string> {
  return (await issueInstallToken(app, nodeId, 'ada', { scriptType: 'shell', options: {} })).token
}

/** A node with a connected agent that exchanged its install token and confirmed the first rotation. */
export async function makeLinkedAgent(gateway: TestGateway, team: TeamContext, url = gateway.url) {
  const node = await makeNode(gateway.app, team)
  const token = await makeInstallToken(gateway.app, node.id)
  const agent = new ScriptedAgent({ url, nodeId: node.id, token })
  await agent.exchange()
  await agent.connect()
  const { value } = await agent.command('rotateToken')
  agent.useToken(value.token)
  await agent.client.confirmToken({})
  return { node, agent }
}

/** Waits for a condition that depends on the database or another process. */
export async function eventually<T>(
  read: () => Promise<T> | T,
  isDone: (value: T) => boolean,
  timeoutMs = 30_000,
): Promise<T> {
  const end = Date.now() + timeoutMs
  for (;;) {
    const value = await read()
    if (isDone(value)) return value
    if (Date.now() > end) throw new Error(`still ${JSON.stringify(value)} after ${timeoutMs} ms`)
    await delay(10)
  }
}
