import { randomBytes } from 'node:crypto'
import { testDatabase } from '@crux/postgres'
import type { LoginFlow } from '@ory/kratos-client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { goodPassword, makeEmail, signUp, startTestIdentity, type TestIdentity } from '../../test/identity.ts'
import { type MailServer, startMailServer } from '../../test/mail-server.ts'
import { startStatementRelay } from '../../test/statement-relay.ts'
import type { PasswordHasher } from '../app/services.ts'
import { createPasswordHasher } from '../methods/password-hash.ts'
import { migrateIdentity } from '../migrate.ts'

/**
 * The response time reveals whether an account exists if one request does more work than the other. This test counts the work: the statements at the
 * database, one by one, and the password hashes. Measured times would be less precise and fail on a busy machine.
 */
let identity: TestIdentity
let mails: MailServer
let relay: Awaited<ReturnType<typeof startStatementRelay>>
let endDatabase: () => Promise<unknown>
let hashed = 0

beforeAll(async () => {
  mails = await startMailServer()
  const database = await testDatabase({ key: 'identity', migrate: migrateIdentity })
  endDatabase = () => database.drop()
  relay = await startStatementRelay(database.url)
  const real = await createPasswordHasher()
  const passwords: PasswordHasher = {
    hash: real.hash,
    verify(known, password) {
      hashed += 1
      return real.verify(known, password)
    },
  }
  identity = await startTestIdentity(
    {
      DATABASE_URL: relay.url,
      SMTP_URI: `smtp://127.0.0.1:${mails.port}/?disable_starttls=true`,
      CRUX_SECRET: randomBytes(24).toString('base64'),
      CRUX_RATE_LIMITS: 'on',
      RATE_LIMIT_RESEND: '1000/1s',
      RATE_LIMIT_CLIENT: '1000/10m',
    },
    undefined,
    { passwords },
  )
})
afterAll(async () => {
  await identity.stop()
  await relay.stop()
  await endDatabase()
  await mails.close()
})

type Kind = 'login' | 'recovery' | 'verification' | 'registration'
/** Submits `fields` to a new API flow and returns the work of the submit alone. */
async function measureWork(kind: Kind, fields: object) {
  const { json: flow } = await identity.browser().ask<LoginFlow>(`/self-service/${kind}/api`)
  hashed = 0
  let status = 0
  const statements = await relay.during(async () => {
    status = (await identity.browser().ask(`/self-service/${kind}?flow=${flow.id}`, { json: fields })).status
  })
  return { status, statements, hashed }
}

const wrongPassword = `${goodPassword} but wrong`
const requests: [string, Kind, (email: string) => object][] = [
  ['a password', 'login', (email) => ({ method: 'password', identifier: email, password: wrongPassword })],
  ['a long password', 'login', (email) => ({ method: 'password', identifier: email, password: 'x'.repeat(5_000) })],
  ['a code to sign in', 'login', (email) => ({ method: 'code', identifier: email })],
  ['a code to recover', 'recovery', (email) => ({ method: 'code', email })],
  ['a link to recover', 'recovery', (email) => ({ method: 'link', email })],
  ['a code to verify', 'verification', (email) => ({ method: 'code', email })],
  ['a code to sign up', 'registration', (email) => ({ method: 'code', traits: { email, name: { first: 'Ada' } } })],
]

it.each(requests)('requesting %s does the same work for known and unknown addresses', async (what, kind, fields) => {
  const { email } = await signUp(identity)
  // The first statement of each kind prepares it, which would count as additional work.
  await measureWork(kind, fields(makeEmail()))
  const known = await measureWork(kind, fields(email))
  const unknown = await measureWork(kind, fields(makeEmail()))
  expect(unknown).toEqual(known)
  expect(known.statements.length).toBeGreaterThan(2)
  expect(known.hashed).toBe(what.includes('password') ? 1 : 0)
})
