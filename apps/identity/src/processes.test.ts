import type { LoginFlow } from '@ory/kratos-client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { goodPassword, signUp, startTestIdentity, type TestIdentity } from '../test/identity.ts'
import { getCode, type MailServer, startMailServer } from '../test/mail-server.ts'

const secret = 'one secret for all processes'
let mailServer: MailServer
let first: TestIdentity
let second: TestIdentity
beforeAll(async () => {
  mailServer = await startMailServer()
  const settings = {
    CRUX_SECRET: secret,
    CRUX_RATE_LIMITS: 'on',
    SMTP_URI: `smtp://127.0.0.1:${mailServer.port}/?disable_starttls=true`,
  }
  first = await startTestIdentity(settings)
  second = await startTestIdentity({ ...settings, DATABASE_URL: first.databaseUrl })
})
afterAll(async () => {
  await second.stop()
  await first.stop()
  await mailServer.close()
})

const attempt = async (identity: TestIdentity, email: string, password: string) => {
  const { data: flow } = await identity.frontend.createNativeLoginFlow()
  return identity.browser().ask<LoginFlow>(`/self-service/login?flow=${flow.id}`, {
    json: { method: 'password', identifier: email, password },
  })
}

it('two identity processes send every mail once', async () => {
  const people = await Promise.all(Array.from({ length: 8 }, (_, index) => signUp(index % 2 ? first : second)))
  for (const { email } of people) expect(getCode(await mailServer.next(email))).toMatch(/^\d{6}$/)
  await expect.poll(() => first.sql('select 1 from identity.mail_outbox'), { timeout: 15_000 }).toEqual([])
  for (const { email } of people)
    expect(mailServer.mails.filter((mail) => mail.to?.some(({ address }) => address === email))).toHaveLength(1)
})

it('two identity processes share flows, codes and sessions', async () => {
  const { email, token, registration } = await signUp(first)
  expect((await second.frontend.toSession({ xSessionToken: token })).status).toBe(200)
  const step = registration.continue_with?.[0]
  const flow = step && 'flow' in step ? step.flow.id : ''
  const code = getCode(await mailServer.next(email))
  const verified = await second
    .browser()
    .ask(`/self-service/verification?flow=${flow}`, { json: { method: 'code', code } })
  expect(verified.json).toMatchObject({ state: 'passed_challenge' })
  expect((await attempt(second, email, goodPassword)).status).toBe(200)
})

it('two identity processes count failures together', async () => {
  for (let tries = 1; tries <= 10; tries++)
    expect((await attempt(tries % 2 ? first : second, 'someone@example.com', 'not my password')).status).toBe(400)
  expect((await attempt(first, 'someone@example.com', goodPassword)).status).toBe(429)
  expect((await attempt(second, 'someone@example.com', goodPassword)).status).toBe(429)
})
