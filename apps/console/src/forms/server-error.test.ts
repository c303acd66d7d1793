import { ApiError } from '@crux/client'
import { describe, expect, it } from 'vitest'
import { locateFieldErrors } from './server-error.ts'

const values = { name: '', url: '', details: { user: '' } }
const refuse = (property: string, ...others: string[]) =>
  new ApiError({
    status: 400,
    error: 'invalidArgument',
    property,
    description: `${property}: is wrong`,
    details: [property, ...others].map((name) => ({
      error: 'invalidArgument',
      property: name,
      description: `${name}: is wrong`,
    })),
  })
const locate = (error: ApiError, names?: Record<string, string>) =>
  locateFieldErrors(error, values, names).map(({ field }) => field)

describe('the fields of a form that an error of the server names', () => {
  it('are found by the property', () => {
    expect(locate(refuse('name'))).toEqual(['name'])
    expect(locate(refuse('details.user'))).toEqual(['details.user'])
  })

  it('are found by the last part of a nested property in a flat form, and by a given name', () => {
    expect(locate(refuse('details.url'))).toEqual(['url'])
    expect(locate(refuse('email'), { email: 'name' })).toEqual(['name'])
  })

  it('are none where no field has the property, so that the banner shows the error', () => {
    expect(locate(refuse('teamId'))).toEqual([])
    expect(locate(refuse('details.token'))).toEqual([])
  })

  it('are all that the error names, with messages that do not repeat the property', () => {
    expect(locateFieldErrors(refuse('name', 'details.url'), values)).toEqual([
      { field: 'name', message: 'is wrong' },
      { field: 'url', message: 'is wrong' },
    ])
  })
})
