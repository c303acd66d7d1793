import type { ContinueWith, Identity, Session, UiContainer } from '@ory/kratos-client'
import { type Answer, type Browser, getCsrfToken } from '../browser.ts'
import type { FlowKind } from './clock.ts'

/** The part of a flow of any kind that scenarios need. */
export interface Flow {
  id: string
  kind: FlowKind
  type: 'api' | 'browser'
  ui: UiContainer
}

/** The part of a successful submit of any kind that scenarios need. */
export interface Done {
  session_token?: string
  session?: Session
  identity?: Identity
  continue_with?: ContinueWith[]
  redirect_browser_to?: string
}

/**
 * Requests a flow as an API client or single-page application.
 *
 * @throws when it is refused
 */
export async function open(client: Browser, kind: FlowKind, type: 'api' | 'browser', query = ''): Promise<Flow> {
  const answer = await client.ask<Flow>(`/self-service/${kind}/${type}${query}`)
  return getFlow(answer, kind)
}

/** Requests a flow as a page and reads it at the address of the redirect. */
export async function openPage(client: Browser, kind: FlowKind, query = ''): Promise<Flow> {
  const { location, text } = await client.page(`/self-service/${kind}/browser${query}`)
  const id = location && URL.canParse(location) ? new URL(location).searchParams.get('flow') : null
  if (!id) throw new Error(`the ${kind} page was not opened: ${location ?? text}`)
  return read(client, kind, id)
}

export async function read(client: Browser, kind: FlowKind, id: string): Promise<Flow> {
  return getFlow(await client.ask<Flow>(`/self-service/${kind}/flows?id=${id}`), kind)
}

export function getFlow(answer: Answer<unknown>, kind: FlowKind): Flow {
  const flow = answer.json as Flow
  if (!flow.ui) throw new Error(`no ${kind} flow but ${answer.status} ${answer.text}`)
  return { ...flow, kind }
}

/** Submits fields as JSON; those of a browser flow with its csrf token by default. */
export function submit(client: Browser, flow: Flow, fields: Record<string, unknown>): Promise<Answer<Done>> {
  const token = flow.type === 'browser' ? { csrf_token: getCsrfToken(flow) } : {}
  return client.ask<Done>(`/self-service/${flow.kind}?flow=${flow.id}`, { json: { ...token, ...fields } })
}

/** Submits the form of a page. */
export function submitForm(client: Browser, flow: Flow, fields: Record<string, string>): Promise<Answer> {
  const form = { csrf_token: getCsrfToken(flow), ...fields }
  return client.page(`/self-service/${flow.kind}?flow=${flow.id}`, { form })
}

/** The id of the flow with which a successful submit continues. */
export function nextFlow(done: Done, action: 'show_verification_ui' | 'show_settings_ui'): string {
  const step = done.continue_with?.find((entry) => entry.action === action)
  if (!step || !('flow' in step)) throw new Error(`nothing says ${action}: ${JSON.stringify(done)}`)
  return step.flow.id
}

/** The flow id in a redirect address. */
export function flowIdIn(address: string | undefined): string {
  const id = new URL(address ?? '', 'http://localhost').searchParams.get('flow')
  if (!id) throw new Error(`no flow in ${address}`)
  return id
}
