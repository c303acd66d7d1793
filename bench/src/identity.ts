import { Agent, request } from 'node:http'
import pg from 'pg'
import { median, now, percentile, type Report } from './measure.ts'
import type { TestSystem } from './test-system.ts'

const people = 100_000
const sessions = 200_000
const getToken = (n: number) => `ory_st_bench-${n}`
const getEmail = (n: number) => `bench-${n}@example.com`
const any = (count: number) => 1 + Math.floor(Math.random() * count)

/** The cost of whoami and sign-in with many users, and the delay that password hashing causes for other requests. */
export async function identity(testSystem: TestSystem, report: Report, rounds: number): Promise<void> {
  const pool = new pg.Pool({ connectionString: testSystem.system.databaseUrl, max: 2 })
  await seed(pool, testSystem.testEnvironment.user.email)
  const agent = new Agent({ keepAlive: true })
  const { identityPublicUrl: url } = testSystem.system
  const password = testSystem.testEnvironment.user.password

  const whoami = async () => {
    const from = now()
    const { status } = await call(agent, `${url}/sessions/whoami`, { 'x-session-token': getToken(any(sessions)) })
    if (status !== 200) throw new Error(`whoami of a seeded session: ${status}`)
    return now() - from
  }
  const signIn = async () => {
    const begun = await call(agent, `${url}/self-service/login/api`, {})
    const { id: flow }: { id: string } = JSON.parse(begun.text)
    const from = now()
    const body = JSON.stringify({ method: 'password', identifier: getEmail(any(people)), password })
    const { status, text } = await call(agent, `${url}/self-service/login?flow=${flow}`, {}, body)
    if (status !== 200) throw new Error(`sign-in of a seeded user: ${status} ${text.slice(0, 200)}`)
    return now() - from
  }

  await repeat(200, whoami)
  const alone = await repeat(rounds * 100, whoami)
  report.number(
    'whoami p50 (100,000 identities, 200,000 sessions)',
    median(alone),
    'ms',
    '<= 3',
    `p95 ${percentile(alone, 95).toFixed(2)} ms, ${alone.length} calls one after another`,
  )

  await signIn()
  const oneSignIn = median(await repeat(10, signIn))
  let signedIn = 0
  let over = false
  const from = now()
  const lanes = Array.from({ length: 4 }, async () => {
    while (!over) {
      await signIn()
      signedIn++
    }
  })
  const meanwhile = await repeat(rounds * 20, whoami)
  over = true
  await Promise.all(lanes)
  const perSecond = signedIn / ((now() - from) / 1_000)
  report.number(
    'sign-ins by password, 4 lanes',
    perSecond,
    'per second',
    undefined,
    `one alone takes ${oneSignIn.toFixed(0)} ms; argon2id with 19 MiB and 2 passes`,
  )
  // A hash on the main thread would delay every call by a whole hash, and four lanes by several.
  report.number(
    'whoami p50 while 4 lanes sign in',
    median(meanwhile),
    'ms',
    `<= ${Math.ceil(oneSignIn)}`,
    `p95 ${percentile(meanwhile, 95).toFixed(1)} ms; the bound is one sign-in alone`,
  )
  agent.destroy()
  await unseed(pool)
  await pool.end()
}

async function repeat(times: number, ask: () => Promise<number>): Promise<number[]> {
  const took: number[] = []
  for (let time = 0; time < times; time++) took.push(await ask())
  return took
}

/** Creates users like the one with this address, with the same password, and two sessions each. */
async function seed(pool: pg.Pool, email: string): Promise<void> {
  await pool.query(
    `with model as (
        select i.*, c.config from identity.identities i
        join identity.credential_identifiers ci on ci.identity_id = i.id and ci.type = 'password' and ci.identifier = $1
        join identity.credentials c on c.identity_id = i.id and c.type = 'password'),
      account as materialized (select n, uuidv7() as id, 'bench-' || n || '@example.com' as email from generate_series(1, $2::int) n),
      identity as (
        insert into identity.identities (id, schema_id, state, traits)
        select account.id, model.schema_id, 'active', jsonb_set(model.traits, '{email}', to_jsonb(account.email))
        from account cross join model returning id),
      credential as (
        insert into identity.credentials (identity_id, type, config)
        select account.id, 'password', model.config from account cross join model),
      identifier as (
        insert into identity.credential_identifiers (type, identifier, identity_id)
        select 'password', email, id from account),
      address as (
        insert into identity.verifiable_addresses (id, identity_id, value, via, verified, status, verified_at)
        select uuidv7(), id, email, 'email', true, 'completed', now() from account),
      recovery as (
        insert into identity.recovery_addresses (id, identity_id, value, via) select uuidv7(), id, email, 'email' from account),
      session as (
        insert into identity.sessions (id, identity_id, token_hash, aal, authentication_methods, authenticated_at, issued_at, expires_at)
        select uuidv7(), account.id, sha256(convert_to('ory_st_bench-' || (account.n + turn * $2::int), 'UTF8')), 'aal1',
          '[{"method": "password", "aal": "aal1", "completed_at": "2026-01-01T00:00:00Z"}]', now(), now(), now() + interval '1 day'
        from account cross join generate_series(0, $3::int / $2::int - 1) turn returning id)
     insert into identity.session_devices (id, session_id, ip_address, user_agent)
     select uuidv7(), id, '192.0.2.1', 'bench' from session`,
    [email, people, sessions],
  )
  await pool.query('analyze')
}

async function unseed(pool: pg.Pool): Promise<void> {
  await pool.query(
    `delete from identity.identities where id in (
       select identity_id from identity.credential_identifiers where identifier like 'bench-%@example.com')`,
  )
}

type Answer = { status: number | undefined; text: string }

const call = (agent: Agent, url: string, headers: Record<string, string>, body?: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const asked = request(
      url,
      {
        agent,
        method: body === undefined ? 'GET' : 'POST',
        headers: { accept: 'application/json', ...type, ...headers },
      },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (part: string) => {
          text += part
        })
        answer.on('end', () => resolve({ status: answer.statusCode, text }))
        answer.on('error', reject)
      },
    )
    asked.on('error', reject)
    asked.end(body)
  })
