import { contract, liveChannels } from '@crux/contract'
import { describe, expect, it } from 'vitest'
import { event } from '../../locales/en/audit.json'

describe('audit texts', () => {
  const operations = Object.entries(contract).filter(([, row]) => 'audit' in row && row.audit !== false)
  const messages = Object.values(liveChannels).flatMap((channel) =>
    Object.entries(channel.client as Record<string, { audit: string | false }>).filter(
      ([, one]) => one.audit !== false,
    ),
  )

  it('exist for every audited operation', () => {
    const names = [...operations, ...messages].map(([name]) => name.replace('.', '_'))
    expect(names.filter((name) => !(name in event))).toEqual([])
  })

  it('exist for no other operation', () => {
    const names = new Set([...operations, ...messages].map(([name]) => name.replace('.', '_')))
    expect(Object.keys(event).filter((name) => !names.has(name))).toEqual([])
  })
})
