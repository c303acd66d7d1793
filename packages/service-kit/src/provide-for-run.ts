import { once } from 'node:events'
import { createServer } from 'node:http'

/**
 * Provides the text by which a service of a test run is reached to this process and its children, which find it by an environment variable. The
 * service starts when the first of them asks, so that tests without it do not wait for it.
 */
export async function provideForRun(variable: string, start: () => Promise<{ text: string; stop(): Promise<void> }>) {
  let service: ReturnType<typeof start> | undefined
  const provider = createServer((_, response) => {
    service ??= start()
    service.then(
      ({ text }) => response.end(text),
      (error) => response.writeHead(500).end(String(error)),
    )
  }).listen(0, '127.0.0.1')
  await once(provider, 'listening')
  const address = provider.address()
  process.env[variable] = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  return {
    async stop(): Promise<void> {
      delete process.env[variable]
      provider.close()
      // A service that did not start has failed the tests that asked for it.
      await (await service?.catch(() => undefined))?.stop()
    },
  }
}

/** @param name for the error message, such as "PostgreSQL" */
export async function getProvided(variable: string, name: string): Promise<string> {
  const provider = process.env[variable]
  if (!provider) throw new Error(`no ${name} is provided: run the tests with vitest from the root of the repository`)
  const response = await fetch(provider)
  const text = await response.text()
  if (!response.ok) throw new Error(`the ${name} of the tests does not start: ${text}`)
  return text
}
