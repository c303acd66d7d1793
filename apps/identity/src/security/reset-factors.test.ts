import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createLogger } from '@crux/service-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { enrolTotp, signInWithPassword, signUpInBrowser } from '../../test/factors.ts'
import { adminToken, consoleUrl, startTestIdentity, type TestIdentity } from '../../test/identity.ts'
import { type MailServer, startMailServer } from '../../test/mail-server.ts'
import { openIdentityDatabase } from '../db/database.ts'
import { resetFactors } from './reset-factors.ts'

let mails: MailServer
let identity: TestIdentity
beforeAll(async () => {
  mails = await startMailServer()
  identity = await startTestIdentity({ SMTP_URI: smtp() })
})
afterAll(async () => {
  await identity.stop()
  await mails.close()
})

const smtp = () => `smtp://127.0.0.1:${mails.port}/?disable_starttls=true`

/** Runs the command as `npm run crux` does, while the service is running. */
async function run(...args: string[]): Promise<{ code: number; said: string }> {
  const env = {
    PATH: process.env.PATH,
    DATABASE_URL: identity.databaseUrl,
    CRUX_URL: consoleUrl,
    CRUX_SECRET: 'any secret will do for this',
    IDENTITY_ADMIN_TOKEN: adminToken,
    SMTP_URI: smtp(),
  }
  const cwd = join(import.meta.dirname, '../..')
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ['src/cli.ts', ...args], { cwd, env })
    return { code: 0, said: stdout }
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string }
    return { code, said: stderr }
  }
}

describe('identity reset-factors', () => {
  it('deletes the second factors, ends all sessions and reports it by mail', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    await identity.sql('update identity.verifiable_addresses set verified = true where value = $1', [email])
    await enrolTotp(browser)
    const lacking = await signInWithPassword(identity, email)
    const { code, said } = await run('reset-factors', email.toUpperCase())
    expect([code, said]).toEqual([0, expect.stringContaining('an authenticator app of')])
    for (const held of [browser, lacking]) expect((await held.ask('/sessions/whoami')).status).toBe(401)
    const after = await signInWithPassword(identity, email)
    expect((await after.ask('/sessions/whoami')).status).toBe(200)
    const sent = mails.mails.length
    expect(sent).toBeGreaterThan(0)
    await mails.next(email)
    await expect
      .poll(() => mails.mails.filter(({ subject }) => subject === 'A way to prove who you are was removed').length)
      .toBe(1)
  })

  it('changes nothing for a user without second factors', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    const log = createLogger({ name: 'test', level: 'silent' })
    const database = openIdentityDatabase({ url: identity.databaseUrl, name: 'test', max: 1, log })
    const done = await resetFactors({ database, consoleUrl, sendsMail: false }, email)
    await database.close()
    expect(done).toEqual({ removed: [], sessionsEnded: 0 })
    expect((await browser.ask('/sessions/whoami')).status).toBe(200)
  })

  it('fails for an unknown address', async () => {
    expect(await run('reset-factors', 'nobody@example.com')).toEqual({
      code: 1,
      said: 'nobody@example.com is nobody here\n',
    })
  })
})
