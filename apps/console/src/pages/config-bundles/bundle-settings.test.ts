import { expect, it } from 'vitest'
import { getSettings } from './bundle-settings.ts'

it('lists the settings of a config bundle by key, with the number of omitted ones', () => {
  const rows = Array.from({ length: 10 }, (_, index) => ({ id: String(index), key: `KEY_${index}`, value: 'x' }))
  const settings = getSettings({ environment: rows, tty: true, ports: null, user: null })
  expect(settings.map(({ field, keys, more }) => [field, keys.length, more])).toEqual([
    ['environment', 8, 2],
    ['tty', 0, 0],
  ])
  expect(settings[0]?.keys[0]).toBe('KEY_0')
})
