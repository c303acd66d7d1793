import { expect, it } from 'vitest'
import { withoutSecrets } from './log-paths.ts'

it.each([
  ['/api/t/registries/1/hooks/hub/s3cret', '/api/t/registries/1/hooks/hub/[redacted]'],
  ['/api/t/registries/1/hooks/HUB/s3cret/more?x=1', '/api/t/registries/1/hooks/HUB/[redacted]?x=1'],
  ['/api/t/registries/1/hooks//s3cret', '/api/t/registries/1/hooks//[redacted]'],
  ['/api/t/registries/1/hooks/v2', '/api/t/registries/1/hooks/v2'],
  ['/api/t/registries', '/api/t/registries'],
])('the address %s is logged as %s', (path, logged) => {
  expect(withoutSecrets(path)).toBe(logged)
})
