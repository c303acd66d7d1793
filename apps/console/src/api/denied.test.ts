import { readdirSync, readFileSync } from 'node:fs'
import { type Action, contract, liveChannels, needs, type Operation, permissions } from '@crux/contract'
import { describe, expect, it } from 'vitest'

const root = new URL('../', import.meta.url)
const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
  .map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }))

/** A change that requires a role in the team. */
const isRestricted = (action: Action) =>
  needs[action] in permissions && !needs[action].endsWith('.read') && contract[action as Operation]?.method !== 'GET'

const asked = new Set(
  sources.flatMap(({ text }) => [...text.matchAll(/useDenied\('([^']+)'\)/g)].map(([, action]) => action)),
)

/** Where each source file makes a change: through `useCall` or `useRemoval`, or directly. */
const calls = sources.flatMap(({ path, text }) =>
  [...text.matchAll(/(?:const (\w+) = )?(useCall|useRemoval|client\.call)\(\s*'([^']+)'/g)].map(
    ([, name, how, operation]) => ({
      path,
      text,
      name,
      how,
      operation: operation as Operation,
    }),
  ),
)

describe('a control for a restricted operation', () => {
  it('shows users without the right why it is disabled', () => {
    const restricted = calls.filter(({ how, operation }) => how !== 'client.call' && isRestricted(operation))
    expect(restricted.length).toBeGreaterThan(30)
    const forgotten = restricted.filter(
      ({ text, name }) =>
        !name ||
        !new RegExp(`\\b${name}\\.denied\\b|(creating|removal|call)=\\{(\\{ \\.{3})?${name}\\b|call: ${name}\\b`).test(
          text,
        ),
    )
    expect(forgotten.map(({ path, operation }) => `${path}: ${operation}`)).toEqual([])
  })

  it('checks the right where the operation is called directly', () => {
    const byHand = calls.filter(({ how, operation }) => how === 'client.call' && isRestricted(operation))
    expect(byHand.map(({ operation }) => operation)).toContain('deployments.start')
    const forgotten = byHand.filter(({ operation }) => !asked.has(operation))
    expect(forgotten.map(({ path, operation }) => `${path}: ${operation}`)).toEqual([])
  })

  it('checks the right where the operation is a live message', () => {
    const restricted = Object.entries(liveChannels).flatMap(([channel, { client }]) =>
      Object.keys(client).flatMap((message) => {
        const action = `${channel}/${message}` as Action
        const sent = sources.some(({ text }) => text.includes(`send('${message}'`))
        return sent && isRestricted(action) ? [action] : []
      }),
    )
    expect(restricted).toContain('node/delete-container')
    expect(restricted.filter((action) => !asked.has(action))).toEqual([])
  })
})
