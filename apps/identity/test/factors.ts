import type { LoginFlow, SettingsFlow, SuccessfulNativeLogin, UiContainer } from '@ory/kratos-client'
import { generateSync } from 'otplib/functional'
import { type Answer, type Browser, getCsrfToken } from './browser.ts'
import { goodPassword, makeEmail, type TestIdentity } from './identity.ts'

/** Signs a user up in a browser of their own. */
export async function signUpInBrowser(identity: TestIdentity): Promise<{ browser: Browser; email: string }> {
  const browser = identity.browser()
  const email = makeEmail()
  const { json: flow } = await browser.ask<LoginFlow>('/self-service/registration/browser')
  const fields = { method: 'password', password: goodPassword, traits: { email }, csrf_token: getCsrfToken(flow) }
  const { status } = await browser.ask(`/self-service/registration?flow=${flow.id}`, { json: fields })
  if (status !== 200) throw new Error(`the sign-up failed with ${status}`)
  return { browser, email }
}

export async function openSettings(browser: Browser): Promise<SettingsFlow> {
  return (await browser.ask<SettingsFlow>('/self-service/settings/browser')).json
}

export function submitSettings(
  browser: Browser,
  flow: SettingsFlow,
  fields: Record<string, unknown>,
): Promise<Answer<SettingsFlow>> {
  return browser.ask<SettingsFlow>(`/self-service/settings?flow=${flow.id}`, {
    json: { csrf_token: getCsrfToken(flow), ...fields },
  })
}

export async function openLogin(browser: Browser, query = ''): Promise<LoginFlow> {
  return (await browser.ask<LoginFlow>(`/self-service/login/browser${query}`)).json
}

export function submitLogin<T = SuccessfulNativeLogin>(
  browser: Browser,
  flow: LoginFlow,
  fields: Record<string, unknown>,
): Promise<Answer<T>> {
  return browser.ask<T>(`/self-service/login?flow=${flow.id}`, { json: { csrf_token: getCsrfToken(flow), ...fields } })
}

/** Signs in with the password alone, in a new browser. */
export async function signInWithPassword(identity: TestIdentity, email: string): Promise<Browser> {
  const browser = identity.browser()
  await submitLogin(browser, await openLogin(browser), {
    method: 'password',
    identifier: email,
    password: goodPassword,
  })
  return browser
}

/** The content of a text or an image of a form. */
export function shown(ui: UiContainer, id: string): Record<string, unknown> | undefined {
  return ui.nodes.find(({ attributes }) => 'id' in attributes && attributes.id === id)?.attributes as never
}

export function listNames(ui: UiContainer, group: string): string[] {
  return ui.nodes
    .filter((node) => node.group === group)
    .map(({ attributes }) => ('name' in attributes ? attributes.name : 'id' in attributes ? String(attributes.id) : ''))
}

export function getSecret(flow: SettingsFlow): string {
  const { text } = shown(flow.ui, 'totp_secret_key') as { text: { context: { secret: string } } }
  return text.context.secret
}

export function getLookupCodes(flow: SettingsFlow): string[] {
  const { text } = shown(flow.ui, 'lookup_secret_codes') as {
    text: { context: { secrets: { id: number; text: string }[] } }
  }
  return text.context.secrets.map(({ text }) => text)
}

/**
 * An authenticator app. Step 0 is the nearest time step, -1 the one before. The nearest step is rounded, so that a code of either step stays valid
 * for at least 15 seconds: relative to the current step, the code of -1 would expire as soon as the next step begins.
 */
export interface App {
  secret: string
  code(step: number): string
}

export function makeApp(secret: string): App {
  const made = Math.floor(Date.now() / 1000) + 15
  return { secret, code: (step) => generateSync({ secret, epoch: made + step * 30 }) }
}

/** Sets the app up with the code of the previous step, so that the code of step 0 is still valid. */
export async function enrolTotp(browser: Browser): Promise<App> {
  const flow = await openSettings(browser)
  const app = makeApp(getSecret(flow))
  const { status } = await submitSettings(browser, flow, { method: 'totp', totp_code: app.code(-1) })
  if (status !== 200) throw new Error(`the enrolment failed with ${status}`)
  return app
}
