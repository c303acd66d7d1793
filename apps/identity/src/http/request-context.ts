import { isIP } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isObject, isStorable } from './body.ts'
import { csrfCookieName, newCsrfToken, parseCsrfCookie } from './csrf.ts'
import { badRequest } from './errors.ts'

export const sessionCookieName = 'ory_kratos_session'
export const deviceCookieName = 'crux_device'
const yearSeconds = 365 * 24 * 3600

/**
 * One request and its answer in terms of the identity service: cookies, accepted formats, the current user. Cookies are collected and written once,
 * so that only the last value of a cookie is sent.
 */
export class RequestContext {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly publicUrl: string
  /** The csrf token that the browser has after this answer. */
  csrfToken: Buffer | undefined
  /** Set when the request belongs to an API flow, because API flows always answer with JSON. */
  forApi = false
  readonly #fromServer: boolean
  readonly #cookieName: string
  readonly #secure: string
  readonly #cookies = new Map<string, string>()

  /** @param fromServer the Crux server forwarded the request, so its information about the client is trusted */
  constructor(request: FastifyRequest, reply: FastifyReply, publicUrl: string, fromServer = false) {
    this.request = request
    this.reply = reply
    this.publicUrl = publicUrl
    this.#fromServer = fromServer
    this.#cookieName = csrfCookieName(publicUrl)
    this.#secure = publicUrl.startsWith('https:') ? '; Secure' : ''
    this.csrfToken = parseCsrfCookie(this.cookie(this.#cookieName))
  }

  /** Whether the client reads JSON: `Accept` contains it, or the body of a submit is JSON. `*` is not sufficient. */
  get wantsJson(): boolean {
    if (this.forApi) return true
    const { accept, 'content-type': contentType } = this.request.headers
    return /application\/json/i.test(accept ?? '') || /^application\/json/i.test(contentType ?? '')
  }

  get clientAddress(): string {
    const { ip, socket, headers } = this.request
    const forwarded = this.#fromServer ? headers['x-forwarded-for'] : undefined
    if (typeof forwarded === 'string' && isIP(forwarded) !== 0) return forwarded
    // A trusted proxy may forward an address that its client made up.
    return isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip
  }

  get userAgent(): string {
    return (this.request.headers['user-agent'] ?? '').slice(0, 512)
  }

  /** The requested address in its public form. */
  get url(): string {
    return this.publicUrl + this.request.url
  }

  /** A part of the path, such as `id` of `/identities/:id`. */
  param(name: string): string {
    const { params } = this.request
    return isObject(params) ? String(params[name]) : ''
  }

  /** All values of a query parameter that may be repeated. */
  queryValues(name: string): unknown[] {
    const { query } = this.request
    const value = isObject(query) ? query[name] : undefined
    return value === undefined ? [] : [value].flat()
  }

  query(name: string): string | undefined {
    const [first] = this.queryValues(name)
    if (typeof first !== 'string') return undefined
    if (!isStorable(first)) throw badRequest(`The query parameter ${name} holds characters that are not allowed.`)
    return first
  }

  cookie(name: string): string | undefined {
    for (const pair of (this.request.headers.cookie ?? '').split(';')) {
      const separator = pair.indexOf('=')
      if (separator > 0 && pair.slice(0, separator).trim() === name) return pair.slice(separator + 1).trim()
    }
    return undefined
  }

  /** Sets a csrf cookie if the browser has none. */
  ensureCsrfToken(): Buffer {
    return this.csrfToken ?? this.rotateCsrfToken()
  }

  /** Sets a new csrf cookie, which invalidates everything that was bound to the previous one. */
  rotateCsrfToken(token: Buffer = newCsrfToken()): Buffer {
    this.csrfToken = token
    this.#setCookie(this.#cookieName, token.toString('base64'), `Max-Age=${yearSeconds}`)
    return token
  }

  setSessionCookie(token: string, expiresAt: Date): void {
    const seconds = Math.max(1, Math.floor((expiresAt.getTime() - Date.now()) / 1000))
    this.#setCookie(sessionCookieName, token, `Expires=${expiresAt.toUTCString()}; Max-Age=${seconds}`)
  }

  setDeviceCookie(value: string): void {
    this.#setCookie(deviceCookieName, value, `Max-Age=${yearSeconds}`)
  }

  clearSessionCookie(): void {
    this.#setCookie(sessionCookieName, '', 'Expires=Thu, 01 Jan 1970 00:00:01 GMT; Max-Age=0')
  }

  get cookies(): string[] {
    return [...this.#cookies.values()]
  }

  #setCookie(name: string, value: string, lifetime: string): void {
    this.#cookies.set(name, `${name}=${value}; Path=/; ${lifetime}; HttpOnly${this.#secure}; SameSite=Lax`)
  }
}
