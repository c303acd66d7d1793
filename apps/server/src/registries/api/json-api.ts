import type { OutboundResponse } from '@crux/service-kit'
import type { createOrigin } from './origin.ts'
import { type Page, readPages, readPaging } from './pages.ts'
import { timeoutMs, unexpected, unreachable } from './registry-api.ts'

type Row = Record<string, unknown>

/**
 * The REST API of a service beside its registry, with lists in numbered pages.
 *
 * @param options.property the field of the form that names the address of the API
 */
export function createJsonApi(options: {
  origin: ReturnType<typeof createOrigin>
  headers: Record<string, string>
  property: string
}) {
  const { origin, headers, property } = options

  async function get(path: string): Promise<OutboundResponse> {
    try {
      // A redirect would be followed without the credential, and its answer would be misread.
      return await origin.request(path, { headers, timeoutMs, redirects: 0, maxBytes: 8 * 1_024 * 1_024 })
    } catch (error) {
      throw unreachable(error, property)
    }
  }

  return {
    host: origin.host,
    get,
    /** @param path without the number and size of the page, which are added to its query */
    pages(path: string, perPage: number, pagesMax = Number.POSITIVE_INFINITY): Promise<Row[]> {
      return readPages(async (page): Promise<Page<Row>> => {
        const separator = path.includes('?') ? '&' : '?'
        const response = await get(`${path}${separator}per_page=${perPage}&page=${page}`)
        if (response.status !== 200) throw unexpected(response, origin.host, 'image')
        const paging = readPaging(response)
        return { rows: readRows(response.body), ...paging, hasNext: paging.hasNext && page < pagesMax }
      })
    },
  }
}

function readRows(body: Buffer): Row[] {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return Array.isArray(value)
      ? value.filter((row): row is Row => typeof row === 'object' && row !== null && !Array.isArray(row))
      : []
  } catch {
    return []
  }
}
