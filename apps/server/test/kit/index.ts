import { randomBytes } from 'node:crypto'
import { type Client, createClient, createLive, type Live, type Socket } from '@crux/client'
import { contract, type TeamRole } from '@crux/contract'
import { type TestDatabase, testDatabase } from '@crux/postgres'
import { createLogger } from '@crux/service-kit'
import { PgBoss } from 'pg-boss'
import { WebSocket } from 'ws'
import { type Config, readConfig } from '../../src/config/config.ts'
import { generateKey } from '../../src/crypto/cipher.ts'
import { teamMember } from '../../src/db/schema/index.ts'
import { migrateServer } from '../../src/migrate.ts'
import { type Overrides, type RunningServer, startServer } from '../../src/start.ts'
import { createPeople, type Someone } from './people.ts'

export type { Someone } from './people.ts'
export type TestTeam = { id: string; slug: string; name: string }
export type TestServer = Awaited<ReturnType<typeof startTestServer>>

/** An empty migrated database, cloned from a template that the first caller of the run creates. */
export const serverDatabase = (): Promise<TestDatabase> =>
  testDatabase({
    key: 'server',
    async migrate(url) {
      await migrateServer(url)
      const boss = new PgBoss({ connectionString: url, schema: 'jobs', max: 1 })
      await boss.start()
      await boss.stop({ graceful: false })
    },
  })

/** The settings of a test: embedded, on loopback, at a port that the system chooses. */
export const testConfig = (databaseUrl: string, more: Partial<Config> = {}): Config => ({
  ...readConfig({
    DATABASE_URL: databaseUrl,
    ENCRYPTION_SECRET_KEY: generateKey(),
    CRUX_EMBEDDED: 'true',
    CRUX_PORT: '0',
    CRUX_DATA_DIR: '/nonexistent',
    IDENTITY_PUBLIC_URL: 'http://127.0.0.1:9',
    IDENTITY_ADMIN_URL: 'http://127.0.0.1:9',
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'fatal',
    // No test asks a service outside: requests to this port are refused at once.
    AZURE_URL: 'http://127.0.0.1:9',
  }),
  ...more,
})

export type TestServerOptions = {
  config?: Partial<Config>
  overrides?: Overrides
  /** Continues on this database, e.g. after a "restart"; otherwise a new one that `stop` drops. */
  database?: TestDatabase
  people?: ReturnType<typeof createPeople>
}

/** The real server on a database of its own; people come from the kit, everything else is real. */
export async function startTestServer(options: TestServerOptions = {}) {
  const database = options.database ?? (await serverDatabase())
  const people = options.people ?? createPeople()
  const config = testConfig(database.url, options.config)
  const log = createLogger({ name: 'test', level: config.logLevel })
  const server: RunningServer = await startServer(config, {
    log,
    identity: people.identity,
    accounts: people.accounts,
    ...options.overrides,
  })
  const { app, url } = server
  const live = new Set<Live>()

  const client = (someone?: Someone): Client =>
    createClient({
      baseUrl: url,
      validate: contract,
      headers: (): Record<string, string> => (someone ? { authorization: `Bearer ${someone.token}` } : {}),
    })

  return {
    server,
    app,
    url,
    database,
    people,
    client,
    signUp: (name?: string) => people.signUp(name),

    async createTeam(owner: Someone, name = `Team ${randomBytes(4).toString('hex')}`): Promise<TestTeam> {
      const slug = `t${randomBytes(5).toString('hex')}`
      const { id } = await client(owner).call('teams.create', { body: { name, slug } })
      return { id, slug, name }
    },

    /** Adds a new user to the team. */
    async addMember(team: TestTeam, role: TeamRole, name?: string): Promise<Someone> {
      const someone = people.signUp(name)
      await app.database.db.insert(teamMember).values({ teamId: team.id, userId: someone.id, role })
      app.bus.publish({ type: 'member.changed', teamId: team.id, userId: someone.id })
      return someone
    },

    /** Ends a session as the identity service does: deletes the row, and notifies the servers. */
    async signOut(someone: Someone): Promise<void> {
      people.forget(someone)
      await app.database.pool.query('select pg_notify($1, $2)', ['crux_sessions', someone.sessionId])
    },

    /** The live client over a real socket that carries the session as a header. */
    live(someone: Someone): Live {
      const opened = createLive(`${url.replace(/^http/, 'ws')}/api`, {
        connect: (address) =>
          new WebSocket(address, { headers: { authorization: `Bearer ${someone.token}` } }) as unknown as Socket,
      })
      live.add(opened)
      return opened
    },

    /** A plain request, for input that the typed client would not send. */
    request: (path: string, init: RequestInit & { as?: Someone } = {}): Promise<Response> =>
      fetch(`${url}${path}`, {
        ...init,
        headers: {
          ...(init.as && { authorization: `Bearer ${init.as.token}` }),
          ...(init.headers as Record<string, string>),
        },
      }),

    async stop(keep: { database?: boolean } = {}): Promise<void> {
      for (const opened of live) opened.close()
      await server.stop()
      if (!keep.database) await database.drop()
    },
  }
}

/** The minimum number of checks, so that a limit of a second does not fail on a busy machine. */
const asksMin = 25

/** Waits until `condition` returns a truthy value, at most `timeoutMs`. */
export async function until<T>(condition: () => T | Promise<T>, timeoutMs = 30_000): Promise<NonNullable<T>> {
  const end = Date.now() + timeoutMs
  for (let asks = 1; ; asks++) {
    const value = await condition()
    if (value) return value
    if (Date.now() > end && asks >= asksMin)
      throw new Error(`did not come true in ${timeoutMs} ms: ${condition.toString().slice(0, 200)}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
