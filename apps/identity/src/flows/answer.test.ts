import { expect, it } from 'vitest'
import { goodPassword, makeEmail, startTestIdentity } from '../../test/identity.ts'

it('identity service answers 500 with only a request id when the database fails, and logs no values', async () => {
  const lines: string[] = []
  const identity = await startTestIdentity({}, { write: (line) => lines.push(line) })
  try {
    const { data: flow } = await identity.frontend.createNativeRegistrationFlow()
    await identity.sql('alter table identity.recovery_addresses rename to elsewhere')
    const email = makeEmail()
    const answer = await identity.browser().ask(`/self-service/registration?flow=${flow.id}`, {
      json: { method: 'password', password: goodPassword, traits: { email } },
      headers: { 'x-request-id': 'request-1234' },
    })
    expect(answer.status).toBe(500)
    expect(answer.json).toEqual({
      error: {
        code: 500,
        status: 'Internal Server Error',
        reason: 'Request request-1234',
        message: 'An internal server error occurred, please contact the system administrator',
      },
    })
    const log = lines.join('')
    expect(log).toContain('request-1234')
    for (const secret of [email, goodPassword, '$argon2']) expect(log).not.toContain(secret)
    expect(await identity.sql('select 1 from identity.identities')).toEqual([])
  } finally {
    await identity.stop()
  }
})

it('identity service works again when the database is back', async () => {
  const identity = await startTestIdentity()
  try {
    await identity.browser().ask('/self-service/login/api')
    await identity.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    )
    await expect
      .poll(async () => (await identity.browser().ask('/self-service/login/api')).status, { timeout: 15_000 })
      .toBe(200)
    await expect.poll(async () => (await identity.browser().ask('/health/ready')).status, { timeout: 15_000 }).toBe(200)
  } finally {
    await identity.stop()
  }
})
