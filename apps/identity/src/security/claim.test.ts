import type { LoginFlow, RecoveryFlow, SettingsFlow } from '@ory/kratos-client'
import { afterAll, describe, expect, it } from 'vitest'
import { type Browser, getCsrfToken } from '../../test/browser.ts'
import { enrolTotp, openLogin, openSettings, signUpInBrowser, submitLogin, submitSettings } from '../../test/factors.ts'
import { goodPassword, makeEmail, startMailingIdentity } from '../../test/identity.ts'
import { getCode } from '../../test/mail-server.ts'

const { identity, mailServer, stop } = await startMailingIdentity()
afterAll(stop)

async function recover(browser: Browser, email: string) {
  const { json: flow } = await browser.ask<RecoveryFlow>('/self-service/recovery/browser')
  const submit = (json: object) =>
    browser.ask(`/self-service/recovery?flow=${flow.id}`, {
      json: { method: 'code', csrf_token: getCsrfToken(flow), ...json },
    })
  await submit({ email })
  await submit({ code: getCode(await mailServer.next(email, 'Recover your account')) })
}

async function signInByCode(browser: Browser, email: string) {
  const flow = await openLogin(browser)
  await submitLogin<LoginFlow>(browser, flow, { method: 'code', identifier: email })
  const code = getCode(await mailServer.next(email, 'Your code to sign in'))
  await submitLogin(browser, flow, { method: 'code', identifier: email, code })
}

const whoami = async (browser: Browser) => (await browser.ask('/sessions/whoami')).status
async function signInWith(password: string, email: string) {
  const browser = identity.browser()
  return (await submitLogin(browser, await openLogin(browser), { method: 'password', identifier: email, password }))
    .status
}

describe.each([
  ['recovers', recover],
  ['signs in by a code', signInByCode],
])('a user who %s with an address that another user signed up with', (_how, comeIn) => {
  it('becomes the only owner: previous sessions, password and factors are deleted, and a mail reports it', async () => {
    const { browser: stranger, email } = await signUpInBrowser(identity)
    await enrolTotp(stranger)
    const owner = identity.browser()
    await comeIn(owner, email)
    expect([await whoami(owner), await whoami(stranger)]).toEqual([200, 401])
    expect(await signInWith(goodPassword, email)).toBe(400)
    const mail = await mailServer.next(email, 'A way to prove who you are was removed')
    expect(mail.text).toContain('the password and an authenticator app')
    expect(await signInWith(goodPassword, email)).toBe(400)
  })

  it('finds the account unchanged when the address was verified before', async () => {
    const { browser, email } = await signUpInBrowser(identity)
    await comeIn(identity.browser(), email)
    const again = identity.browser()
    await comeIn(again, email)
    const settings = await openSettings(again)
    const password = 'nine yellow Herons 47'
    expect((await submitSettings(again, settings, { method: 'password', password })).status).toBe(200)
    await comeIn(identity.browser(), email)
    expect([await whoami(again), await whoami(browser), await signInWith(password, email)]).toEqual([200, 401, 200])
  })
})

it('takes over nothing from an account whose owner changed its address', async () => {
  const { browser } = await signUpInBrowser(identity)
  const email = makeEmail()
  const changed = await submitSettings(browser, await openSettings(browser), { method: 'profile', traits: { email } })
  expect((changed.json as SettingsFlow).state).toBe('success')
  await recover(identity.browser(), email)
  expect([await whoami(browser), await signInWith(goodPassword, email)]).toEqual([200, 200])
})
