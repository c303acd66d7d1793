import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listCapturedMails } from '@crux/service-kit/mail'
import type { LoginFlow, SettingsFlow } from '@ory/kratos-client'
import { afterAll, describe, expect, it } from 'vitest'
import { goodPassword, makeEmail, signUp, startMailingIdentity, startTestIdentity } from '../../test/identity.ts'
import { getCode } from '../../test/mail-server.ts'

const { identity, mailServer, stop } = await startMailingIdentity()
afterAll(stop)

interface Entry {
  event: string
  details: Record<string, unknown>
  ip_address: string
  user_agent: string
}

const getLog = async (token: string, query = '') =>
  (await identity.browser({ 'x-session-token': token }).ask<Entry[]>(`/sessions/security-log${query}`)).json

async function change(token: string, fields: object, on = identity) {
  const client = on.browser({ 'x-session-token': token })
  const { json: flow } = await client.ask<SettingsFlow>('/self-service/settings/api')
  const answer = await client.ask<SettingsFlow>(`/self-service/settings?flow=${flow.id}`, { json: fields })
  expect(answer.json.state).toBe('success')
}

async function signIn(email: string, userAgent: string): Promise<void> {
  await identity.sql(`update identity.verifiable_addresses set verified = true where value = $1`, [email])
  const client = identity.browser({ 'user-agent': userAgent })
  const { json: flow } = await client.ask<LoginFlow>('/self-service/login/api')
  const answer = await client.ask(`/self-service/login?flow=${flow.id}`, {
    json: { method: 'password', identifier: email, password: goodPassword },
  })
  expect(answer.status).toBe(200)
}

/** The subjects of the mails to an address, after `count` have arrived. */
async function subjects(email: string, count: number): Promise<(string | undefined)[]> {
  const found = []
  while (found.length < count) found.push((await mailServer.next(email)).subject)
  return found
}

const verify = 'Verify your e-mail address'

describe('the security notification by mail', () => {
  it('reports a new password, without a link that could be forged', async () => {
    const { email, token } = await signUp(identity)
    await change(token, { method: 'password', password: `${goodPassword} new` })
    await subjects(email, 1)
    const mail = await mailServer.next(email)
    expect(mail.subject).toBe('Your password was changed')
    expect(`${mail.text}${mail.html}`).not.toMatch(/https?:/)
    expect(mail.text).toContain('127.0.0.1')
  })

  it('reports a new address to the previous one; the new one gets a verification mail', async () => {
    const { email, token } = await signUp(identity)
    const other = makeEmail()
    await change(token, { method: 'profile', traits: { email: other, name: { first: 'Ada', last: 'Byron' } } })
    expect(await subjects(email, 2)).toEqual([verify, 'Your e-mail address was changed'])
    const mail = await mailServer.next(other)
    expect(mail.subject).toBe(verify)
    expect(getCode(mail)).toMatch(/^\d{6}$/)
  })

  it('is not sent for a change of the name', async () => {
    const { email, token } = await signUp(identity)
    await change(token, { method: 'profile', traits: { email, name: { first: 'Augusta' } } })
    await change(token, { method: 'password', password: `${goodPassword} new` })
    expect(await subjects(email, 2)).toEqual([verify, 'Your password was changed'])
  })

  it('reports a sign-in with another program, but not with another version', async () => {
    const { email } = await signUp(identity)
    await signIn(email, 'Firefox/140.0 (Linux)')
    await signIn(email, 'Firefox/141.0 (Linux)')
    await signIn(email, 'Safari/19 (iPhone)')
    const mails = await subjects(email, 3)
    expect(mails).toEqual([verify, 'New sign-in to your account', 'New sign-in to your account'])
  })
})

describe('the security log', () => {
  it('lists the events of the account, the latest first, without secrets', async () => {
    const { email, token } = await signUp(identity)
    await signIn(email, 'A browser')
    await change(token, { method: 'password', password: `${goodPassword} new` })
    const entries = await getLog(token)
    expect(entries.map(({ event }) => event)).toEqual(['password-changed', 'signed-in', 'signed-up'])
    expect(entries[1]).toMatchObject({
      details: { method: 'password' },
      user_agent: 'A browser',
      ip_address: '127.0.0.1',
    })
    expect(JSON.stringify(entries)).not.toContain(goodPassword)
  })

  it('shows only the own account, in pages', async () => {
    const [ada, eve] = [await signUp(identity), await signUp(identity)]
    await signIn(ada.email, 'A browser')
    const client = identity.browser({ 'x-session-token': ada.token })
    const first = await client.ask<Entry[]>('/sessions/security-log?page_size=1')
    expect(first.json.map(({ event }) => event)).toEqual(['signed-in'])
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? ''
    expect((await client.ask<Entry[]>(next)).json.map(({ event }) => event)).toEqual(['signed-up'])
    expect((await getLog(eve.token)).map(({ event }) => event)).toEqual(['signed-up'])
    expect((await identity.browser().ask('/sessions/security-log')).status).toBe(401)
  })

  it('is deleted with the user', async () => {
    const { id } = await signUp(identity)
    await identity.admin.deleteIdentity({ id })
    expect(await identity.sql('select 1 from identity.security_log where identity_id = $1', [id])).toEqual([])
  })
})

describe('a service without a mail server', () => {
  it('captures mails in a directory, and counts addresses as verified', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'crux-mails-'))
    const keeping = await startTestIdentity({ CRUX_MAILS_DIR: directory })
    try {
      const { email, token } = await signUp(keeping)
      await change(token, { method: 'password', password: `${goodPassword} new` }, keeping)
      const { data: flow } = await keeping.frontend.createNativeRecoveryFlow()
      await keeping.browser().ask(`/self-service/recovery?flow=${flow.id}`, { json: { method: 'code', email } })
      await expect
        .poll(() => listCapturedMails(directory).map(({ to, subject }) => ({ to, subject })), { timeout: 10_000 })
        .toEqual([
          { to: email, subject: 'Recover your account' },
          { to: email, subject: 'Your password was changed' },
        ])
      const code = /^(\d{6})$/m.exec(listCapturedMails(directory)[0]?.text ?? '')?.[1]
      const done = await keeping
        .browser()
        .ask(`/self-service/recovery?flow=${flow.id}`, { json: { method: 'code', code } })
      expect(done.status).toBe(200)
    } finally {
      await keeping.stop()
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
