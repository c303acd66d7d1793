import { contract, type EndpointSpec, permissions } from '@crux/contract'
import { describe, expect, test } from 'vitest'

// Checks rules of the table that its types cannot express.

const rows: [string, EndpointSpec][] = Object.entries(contract)
const outsideTeams = ['public', 'session', 'install-token', 'registry-hook', 'pipeline-hook']

describe.each(rows)('the operation %s', (operation, spec) => {
  test('has a name of the form resource.verb, a summary, and a unique path', () => {
    expect(operation).toMatch(/^[a-z]+(-[a-z]+)*\.[a-z]+(-[a-z]+)*$/)
    expect(spec.summary).toMatch(/^[A-Z].{3,90}[^.]$/)
    expect(rows.filter(([, other]) => other.method === spec.method && other.path === spec.path)).toHaveLength(1)
  })

  test('has a permission, which is one of a team exactly if its path contains a team', () => {
    const known = outsideTeams.includes(spec.permission) || spec.permission in permissions
    expect(known).toBe(true)
    if (!outsideTeams.includes(spec.permission)) expect(spec.path).toMatch(/:team(Slug|Id)/)
  })

  test('declares exactly the parameters of its path', () => {
    const inPath = [...spec.path.matchAll(/:(\w+)/g)].map((match) => match[1])
    expect(Object.keys(spec.params?.shape ?? {}).sort()).toEqual(inPath.sort())
  })

  test('is audited if it changes a team, and not audited if it reads', () => {
    // A token with the scope read may call it, so it changes nothing, with any method.
    if (spec.method === 'GET' || spec.token === 'read') expect(spec.audit ?? false).toBe(false)
    else if (!outsideTeams.includes(spec.permission)) expect(spec.audit).toBeTruthy()
  })
})
