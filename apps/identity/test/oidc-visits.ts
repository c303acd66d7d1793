import { followRedirects, type OidcAccount } from '@crux/test-kit'
import type { Session } from '@ory/kratos-client'
import { expect } from 'vitest'
import type { Browser } from './browser.ts'
import { openLogin, submitLogin } from './factors.ts'
import { consoleUrl, makeEmail } from './identity.ts'

export const publicUrl = `${consoleUrl}/kratos`
export const callback = (id: string) => `${publicUrl}/self-service/methods/oidc/callback/${id}`

let count = 0
/** An account at the provider that was not used before. */
export function makeAccount(): OidcAccount {
  count += 1
  const names = { given_name: 'Ada', family_name: 'Byron' }
  return { sub: `user-${process.pid}-${count}`, email: makeEmail(), email_verified: true, ...names }
}

/** Signs in at a provider from a flow and returns the address after the callback. */
export async function goThere(browser: Browser, departed: { status: number; json: unknown }) {
  expect(departed.status).toBe(422)
  const { redirect_browser_to: away } = departed.json as { redirect_browser_to: string }
  const back = await followRedirects(away, publicUrl)
  return { back, answer: await browser.page(back.slice(publicUrl.length)) }
}

export async function signInWith(provider: string, browser: Browser, query = '') {
  const flow = await openLogin(browser, query)
  const there = await goThere(browser, await submitLogin(browser, flow, { method: 'oidc', provider }))
  return { browser, flow, ...there }
}

export const whoami = async (browser: Browser) => (await browser.ask<Session>('/sessions/whoami')).json

/** The id of the flow in the address of a page. */
export const getFlow = (location: string | undefined) => new URL(location ?? '').searchParams.get('flow') ?? ''
