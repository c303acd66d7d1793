import { expect, it } from 'vitest'
import { auditLogSearch, deploymentsSearch, errorSearch, parseSearch, stringifySearch, verifySearch } from './search.ts'

it('keeps a code, an id and a numeric filter in search parameters as strings', () => {
  expect(verifySearch.parse(parseSearch('?flow=f&code=866697'))).toEqual({ flow: 'f', code: '866697' })
  expect(errorSearch.parse(parseSearch('?id=0012'))).toEqual({ id: '0012' })
  expect(auditLogSearch.parse(parseSearch('?accepted=true'))).toEqual({ accepted: 'true' })
})

it.each(['1e3', '"quoted"', 'true', 'null', '{"a":1}', 'a b&c=d', 'grün', '%22'])(
  'writes the filter %s into an address and reads the same value back',
  (filter) => {
    const address = stringifySearch({ skip: 50, take: undefined, filter })
    expect(deploymentsSearch.parse(parseSearch(address))).toEqual({ skip: 50, filter })
  },
)

it('adds nothing to an address without parameters', () => {
  expect(stringifySearch({ filter: undefined, status: null })).toBe('')
})
