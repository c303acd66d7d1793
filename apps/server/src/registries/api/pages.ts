import type { OutboundResponse } from '@crux/service-kit'
import { appendPage, namesMax, pagesMax } from './registry-api.ts'

/** Pages that are requested at the same time, once the service has answered how many there are. */
const atOnce = 5

export type Page<T> = {
  rows: T[]
  hasNext: boolean
  /** The number of the last page; undefined where the service does not tell. */
  last: number | undefined
}

/** The rows of all numbered pages in their order, until there are more of them than a page can show. */
export async function readPages<T>(load: (page: number) => Promise<Page<T>>): Promise<T[]> {
  const first = await load(1)
  const found = first.rows.slice(0, namesMax)
  let page = first
  for (let next = 2; page.hasNext && found.length < namesMax && next <= pagesMax; ) {
    // The last page may move while the others are read, so that the flag of the last answer decides.
    const count = Math.max(1, Math.min(atOnce, (page.last ?? first.last ?? next) - next + 1))
    const loaded = await Promise.all(Array.from({ length: count }, (_, index) => load(next + index)))
    for (const { rows } of loaded) appendPage(found, rows)
    page = loaded.at(-1) ?? page
    next += count
  }
  return found
}

/** The paging of GitLab (`X-Next-Page`, `X-Total-Pages`) and GitHub (`Link`), whose addresses are not followed. */
export function readPaging({ headers }: OutboundResponse): Pick<Page<unknown>, 'hasNext' | 'last'> {
  const link = [headers.link ?? ''].flat().join(', ')
  const lastLink = /[?&]page=(\d+)[^>]*>\s*;\s*rel="last"/.exec(link)?.[1]
  const last = Number(headers['x-total-pages'] ?? lastLink)
  return {
    hasNext: /^\d+$/.test(String(headers['x-next-page'] ?? '')) || /rel="next"/.test(link),
    last: Number.isInteger(last) && last > 0 ? last : undefined,
  }
}
