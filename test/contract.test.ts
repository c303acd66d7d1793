import { contract, type EndpointSpec, liveChannels, permissions } from '@crux/contract'
import { describe, expect, test } from 'vitest'
import { projectFiles } from './repository.ts'

// What the types of the table cannot say.

const rows: [string, EndpointSpec][] = Object.entries(contract)
const outsideTeams = ['public', 'session', 'install-token', 'registry-hook']

describe.each(rows)('%s', (operation, spec) => {
  test('is named resource.verb, says what it does, and has its place once', () => {
    expect(operation).toMatch(/^[a-z]+(-[a-z]+)*\.[a-z]+(-[a-z]+)*$/)
    expect(spec.summary).toMatch(/^[A-Z].{3,90}[^.]$/)
    expect(rows.filter(([, other]) => other.method === spec.method && other.path === spec.path)).toHaveLength(1)
  })

  test('has a permission, and one of a team exactly where the path names one', () => {
    const known = outsideTeams.includes(spec.permission) || spec.permission in permissions
    expect(known).toBe(true)
    if (!outsideTeams.includes(spec.permission)) expect(spec.path).toMatch(/:team(Slug|Id)/)
  })

  test('declares the parameters of its path and no others', () => {
    const inPath = [...spec.path.matchAll(/:(\w+)/g)].map((match) => match[1])
    expect(Object.keys(spec.params?.shape ?? {}).sort()).toEqual(inPath.sort())
  })

  test('reads nothing into the audit log, and changes of a team always', () => {
    // What a token that only reads may call changes nothing, whatever its method.
    if (spec.method === 'GET' || spec.token === 'read') expect(spec.audit).toBe(false)
    else if (!outsideTeams.includes(spec.permission)) expect(spec.audit).not.toBe(false)
  })
})

test('rights are tested by going through the whole table, endpoints and live messages', () => {
  const [rights] = projectFiles(/^apps\/server\/test\/rights\.test\.ts$/)
  const [requests] = projectFiles(/^apps\/server\/test\/kit\/requests\.ts$/)
  expect(requests?.text).toMatch(/operations = Object\.(entries|keys)\(contract\)/)
  expect(rights?.text).toMatch(/it\.each\(guarded\)/)
  expect(rights?.text).toMatch(/liveChannels/)
  expect(Object.keys(liveChannels).length).toBeGreaterThan(3)
})
