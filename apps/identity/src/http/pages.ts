import { isUuid } from '@crux/service-kit'
import { badRequest } from './errors.ts'
import type { RequestContext } from './request-context.ts'

export interface OffsetPage {
  size: number
  offset: number
}

const sizeMax = 1_000
const sizeDefault = 250

/**
 * Reads a page by number (`page`, `per_page`; the first is 1, and 0 is treated as 1) or by token (`page_size`, `page_token`, which contains the
 * offset). Values that are not numbers are ignored.
 */
export function readOffsetPage(ctx: RequestContext): OffsetPage {
  const size = readSize(numberOr(undefined, ctx.query('page_size') ?? ctx.query('per_page')))
  const token = ctx.query('page_token')
  if (token !== undefined && token !== '') return { size, offset: readToken(token) }
  return { size, offset: Math.max(0, readNumber(numberOr('1', ctx.query('page'))) - 1) * size }
}

function numberOr<T>(fallback: T, value: string | undefined): string | T {
  return value !== undefined && /^\d{1,9}$/.test(value) ? value : fallback
}

/** 0 means the default, as in Ory Kratos. Values above the maximum are reduced to it. */
export function readSize(value: string | undefined): number {
  const size = readNumber(value ?? '0')
  return size === 0 ? sizeDefault : Math.min(size, sizeMax)
}

/** The links `first`, `prev`, `next` and `last` as relative addresses. */
export function linkHeader(ctx: RequestContext, page: OffsetPage, total: number): string {
  const last = Math.max(0, Math.ceil(total / page.size) - 1) * page.size
  const links = [link(ctx, 'first', page, 0)]
  if (page.offset > 0) links.push(link(ctx, 'prev', page, Math.max(0, page.offset - page.size)))
  if (page.offset + page.size < total) links.push(link(ctx, 'next', page, page.offset + page.size))
  links.push(link(ctx, 'last', page, last))
  return links.join(',')
}

function link(ctx: RequestContext, rel: string, page: OffsetPage, offset: number): string {
  return linkTo(ctx, rel, {
    page: String(Math.floor(offset / page.size) + 1),
    per_page: String(page.size),
    page_size: String(page.size),
    page_token: Buffer.from(JSON.stringify({ offset })).toString('base64url'),
  })
}

/** A link to the requested address with changed query parameters. */
export function linkTo(ctx: RequestContext, rel: string, change: Record<string, string>): string {
  const [path = '', query = ''] = ctx.request.url.split('?', 2)
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(change)) next.set(name, value)
  next.sort()
  return `<${path}?${next}>; rel="${rel}"`
}

export function readNumber(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw badRequest(`"${value}" is not a number of a page or a size.`)
  return Number(value)
}

function readToken(token: string): number {
  try {
    const { offset }: { offset: unknown } = JSON.parse(Buffer.from(token, 'base64url').toString())
    if (Number.isInteger(offset) && Number(offset) >= 0 && Number(offset) <= 1e9) return Number(offset)
  } catch {
    // The error is thrown below, as for every malformed token.
  }
  throw invalidToken()
}

/** The page token of lists that continue after the row with an id. */
export function readIdToken(ctx: RequestContext): string | undefined {
  const token = ctx.query('page_token') || undefined
  if (token !== undefined && !isUuid(token)) throw invalidToken()
  return token
}

const invalidToken = () => badRequest('The page token is invalid, do not craft your own page tokens')
