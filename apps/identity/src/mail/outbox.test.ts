import { afterAll, beforeAll, expect, it } from 'vitest'
import { signUp, startTestIdentity, type TestIdentity } from '../../test/identity.ts'
import { getCode, type MailServer, startMailServer } from '../../test/mail-server.ts'

/** Longer than any step takes on a busy machine. */
const timeoutMs = { timeout: 15_000 }

let mailServer: MailServer
let identity: TestIdentity
beforeAll(async () => {
  mailServer = await startMailServer({ starttls: true })
  identity = await startTestIdentity({
    SMTP_URI: `smtp://127.0.0.1:${mailServer.port}/?skip_ssl_verify=true`,
    FROM_EMAIL: 'robot@crux.example',
    FROM_NAME: 'The Robot, "Crux"',
  })
})
afterAll(async () => {
  await identity.stop()
  await mailServer.close()
})

const waiting = () => identity.sql<{ attempts: number }>('select attempts from identity.mail_outbox')

it('the outbox sends through STARTTLS, from the configured sender', async () => {
  const { email } = await signUp(identity)
  const mail = await mailServer.next(email)
  expect(mail.from).toMatchObject({ address: 'robot@crux.example', name: 'The Robot, "Crux"' })
  expect(getCode(mail)).toMatch(/^\d{6}$/)
})

it('the outbox keeps a mail that is refused temporarily, and sends it once', async () => {
  mailServer.refuseWith(451)
  const { email } = await signUp(identity)
  await expect.poll(async () => (await waiting())[0]?.attempts, timeoutMs).toBeGreaterThanOrEqual(1)
  mailServer.refuseWith(undefined)
  await mailServer.next(email)
  await expect.poll(waiting, timeoutMs).toEqual([])
  expect(mailServer.mails.filter((mail) => mail.to?.some(({ address }) => address === email))).toHaveLength(1)
})

it('the outbox gives up on an address that does not exist', async () => {
  mailServer.refuseWith(550)
  const { email } = await signUp(identity)
  await expect.poll(waiting, timeoutMs).toEqual([])
  mailServer.refuseWith(undefined)
  expect(mailServer.mails.some((mail) => mail.to?.some(({ address }) => address === email))).toBe(false)
})

it('the outbox lets users sign up while the mail server is unavailable, and sends the mail when it is back', async () => {
  const { port } = mailServer
  await mailServer.close()
  const { email, registration } = await signUp(identity)
  expect(registration.session?.active).toBe(true)
  await expect.poll(async () => (await waiting()).length, timeoutMs).toBe(1)
  mailServer = await startMailServer({ port, starttls: true })
  expect(getCode(await mailServer.next(email))).toMatch(/^\d{6}$/)
})

it('the outbox deletes mails that would arrive too late to be useful', async () => {
  await identity.sql(
    `insert into identity.mail_outbox (recipient, subject, text, html, next_attempt_at, useful_until)
     values ('late@example.com', 's', 't', 'h', now() + interval '1 hour', now() - interval '1 second')`,
  )
  await expect.poll(waiting, timeoutMs).toEqual([])
})
