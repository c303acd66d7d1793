import type { LoginFlow, RegistrationFlow, SettingsFlow } from '@ory/kratos-client'
import { afterAll, expect, it } from 'vitest'
import { type Answer, messageIds } from '../../test/browser.ts'
import { makeEmail, signUp, startMailingIdentity, startTestIdentity } from '../../test/identity.ts'
import { getCode } from '../../test/mail-server.ts'

const { identity, mailServer, stop } = await startMailingIdentity()
afterAll(stop)

async function beginLogin() {
  const { data: flow } = await identity.frontend.createNativeLoginFlow()
  return (json: object): Promise<Answer<LoginFlow & { session_token?: string }>> =>
    identity.browser().ask(`/self-service/login?flow=${flow.id}`, { json: { method: 'code', ...json } })
}

async function beginRegistration() {
  const { data: flow } = await identity.frontend.createNativeRegistrationFlow()
  return (json: object): Promise<Answer<RegistrationFlow>> =>
    identity.browser().ask(`/self-service/registration?flow=${flow.id}`, { json: { method: 'code', ...json } })
}

it('codes reveal in no answer which addresses have an account', async () => {
  const known = (await signUp(identity)).email
  const stranger = makeEmail()
  const answers = []
  for (const email of [known, stranger]) {
    const submit = await beginLogin()
    const seen = []
    for (const step of [
      { identifier: email },
      { identifier: email, code: '000000' },
      { identifier: email, resend: 'code' },
      { identifier: email, code: '111111' },
      { identifier: email, code: '222222' },
      { identifier: email, code: '333333' },
      { identifier: email, code: '444444' },
      { identifier: email, code: '555555' },
      { identifier: email, code: '666666' },
    ]) {
      const { status, json } = await submit(step)
      seen.push({ status, state: json.state, nodes: JSON.stringify(json.ui.nodes).replaceAll(email, 'ADDRESS') })
      seen.push(messageIds(json))
    }
    answers.push(seen)
  }
  expect(answers[1]).toEqual(answers[0])
  await mailServer.next(known, 'Your code to sign in')
  expect(mailServer.mails.some((mail) => mail.to?.some(({ address }) => address === stranger))).toBe(false)
})

it('codes are mailed on their own line and without a link', async () => {
  const { email } = await signUp(identity)
  const submit = await beginLogin()
  await submit({ identifier: email })
  const mail = await mailServer.next(email, 'Your code to sign in')
  expect(getCode(mail)).toMatch(/^\d{6}$/)
  expect(`${mail.text}${mail.html}`).not.toMatch(/https?:/)
})

it('codes sign in only with the code that was sent for this flow', async () => {
  const { email } = await signUp(identity)
  const [first, second] = [await beginLogin(), await beginLogin()]
  await first({ identifier: email })
  const code = getCode(await mailServer.next(email, 'Your code to sign in'))
  await second({ identifier: email })
  const other = await second({ identifier: email, code })
  expect(messageIds(other.json)).toEqual([4010008])
  const done = await first({ identifier: email, code })
  expect(done.json.session_token).toMatch(/^ory_st_/)
  expect(messageIds((await first({ identifier: email, code })).json)).toEqual([4010002])
})

it('codes reveal that an address is taken only to users who can read its mail', async () => {
  const { email, id } = await signUp(identity)
  const submit = await beginRegistration()
  const traits = { email, name: {} }
  const sent = await submit({ traits })
  expect(sent.json.state).toBe('sent_email')
  const code = getCode(await mailServer.next(email, 'Your code to sign up'))
  const done = await submit({ traits, code })
  expect(done.status).toBe(400)
  expect(messageIds(done.json)).toEqual([4000007])
  const { data: found } = await identity.admin.listIdentities({ credentialsIdentifier: email })
  expect(found.map((entry) => entry.id)).toEqual([id])
  expect((await submit({ traits: { email: makeEmail(), name: {} } })).json.state).toBe('sent_email')
})

it('codes sign up once, even with two concurrent requests', async () => {
  const email = makeEmail()
  const traits = { email, name: {} }
  const submit = await beginRegistration()
  await submit({ traits })
  const code = getCode(await mailServer.next(email, 'Your code to sign up'))
  const answers = await Promise.all([submit({ traits, code }), submit({ traits, code })])
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400])
})

it('codes are not offered where no mail is sent', async () => {
  const silent = await startTestIdentity()
  try {
    const { data: flow } = await silent.frontend.createNativeLoginFlow()
    expect(flow.ui.nodes.some(({ group }) => group === 'code')).toBe(false)
    const { email } = await signUp(silent)
    const answer = await silent.browser().ask<LoginFlow>(`/self-service/login?flow=${flow.id}`, {
      json: { method: 'code', identifier: email },
    })
    expect(messageIds(answer.json)).toEqual([4010002])
  } finally {
    await silent.stop()
  }
})

it('codes that were sent to a previous address of an account do not sign in', async () => {
  const { email, token } = await signUp(identity)
  const submit = await beginLogin()
  await submit({ identifier: email })
  const code = getCode(await mailServer.next(email, 'Your code to sign in'))
  const owner = identity.browser({ 'x-session-token': token })
  const { json: settings } = await owner.ask<SettingsFlow>('/self-service/settings/api')
  const json = { method: 'profile', traits: { email: makeEmail() } }
  expect((await owner.ask(`/self-service/settings?flow=${settings.id}`, { json })).status).toBe(200)
  const answer = await submit({ identifier: email, code })
  expect([answer.status, messageIds(answer.json), answer.json.session_token]).toEqual([400, [4010008], undefined])
})
