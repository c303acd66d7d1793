import type { UiContainer, UiNodeInputAttributes } from '@ory/kratos-client'

interface Ask {
  method?: string
  json?: unknown
  form?: Record<string, string>
  body?: string
  accept?: string
  headers?: Record<string, string>
}

export interface Answer<T = unknown> {
  status: number
  location: string | undefined
  headers: Headers
  setCookies: string[]
  text: string
  /**
   * The parsed body.
   *
   * @throws when it is not JSON
   */
  json: T
}

/** A browser from the point of view of the service: it stores cookies, sends them back, and follows no redirect by itself. */
export class Browser {
  readonly base: string
  readonly cookies = new Map<string, string>()
  readonly #headers: Record<string, string>

  constructor(base: string, headers: Record<string, string> = {}) {
    this.base = base
    this.#headers = headers
  }

  async ask<T = unknown>(path: string, ask: Ask = {}): Promise<Answer<T>> {
    const headers: Record<string, string> = {
      accept: ask.accept ?? 'application/json',
      ...this.#headers,
      ...ask.headers,
    }
    if (this.cookies.size > 0) headers.cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    let body = ask.body
    if (ask.json !== undefined) {
      body = JSON.stringify(ask.json)
      headers['content-type'] ??= 'application/json'
    } else if (ask.form) {
      body = new URLSearchParams(ask.form).toString()
      headers['content-type'] = 'application/x-www-form-urlencoded'
    }
    const response = await fetch(this.base + path, {
      method: ask.method ?? (body === undefined ? 'GET' : 'POST'),
      headers,
      body,
      redirect: 'manual',
    })
    const setCookies = response.headers.getSetCookie()
    for (const cookie of setCookies) this.#keep(cookie)
    const text = await response.text()
    return {
      status: response.status,
      location: response.headers.get('location') ?? undefined,
      headers: response.headers,
      setCookies,
      text,
      get json() {
        return JSON.parse(text) as T
      },
    }
  }

  /** Sends a request like an HTML page, without accepting JSON. */
  page(path: string, ask: Ask = {}): Promise<Answer> {
    return this.ask(path, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', ...ask })
  }

  get sessionCookie(): string | undefined {
    return this.cookies.get('ory_kratos_session')
  }

  #keep(cookie: string): void {
    const [pair = '', ...attributes] = cookie.split('; ')
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    if (value === '' || attributes.includes('Max-Age=0')) this.cookies.delete(name)
    else this.cookies.set(name, value)
  }
}

/** The attributes of a form's input. */
export function getInput(ui: UiContainer, name: string): UiNodeInputAttributes | undefined {
  const node = ui.nodes.find(({ attributes }) => 'name' in attributes && attributes.name === name)
  return node?.attributes as UiNodeInputAttributes | undefined
}

export function getCsrfToken(flow: { ui: UiContainer }): string {
  return String(getInput(flow.ui, 'csrf_token')?.value)
}

/** The ids of the messages of the form (`''`) or of one of its inputs. */
export function messageIds(flow: { ui: UiContainer }, name = ''): number[] {
  if (name === '') return (flow.ui.messages ?? []).map(({ id }) => id)
  const node = flow.ui.nodes.find(({ attributes }) => 'name' in attributes && attributes.name === name)
  return (node?.messages ?? []).map(({ id }) => id)
}
