import { readFile } from 'node:fs/promises'
import { Server } from 'node:https'
import { createSecureContext } from 'node:tls'
import { getField, type Logger } from '@crux/service-kit'
import type { Config } from '../config/index.ts'
import type { OnePort } from './one-port.ts'

/** The files are polled, because tools replace certificates by renaming files and links, which a file watcher does not notice. */
const checkMs = 5_000

/**
 * Uses a renewed certificate for new connections, without a restart; open connections keep theirs. A pair that does not
 * match, e.g. a half-written one, changes nothing and is checked again.
 *
 * @returns a function that stops the polling
 */
export function reloadCertificate(server: OnePort['server'], tls: Config['tls'], log: Logger): () => void {
  const files = tls?.files
  if (!tls || !files || !(server instanceof Server)) return () => undefined
  const secure = server
  let current = { cert: tls.cert, key: tls.key }
  let refused = ''

  async function check({ cert, key }: { cert: string; key: string }): Promise<void> {
    try {
      const [certText, keyText] = await Promise.all([readFile(cert, 'utf8'), readFile(key, 'utf8')])
      const found = { cert: certText.trim(), key: keyText.trim() }
      if (found.cert === current.cert.trim() && found.key === current.key.trim()) return
      createSecureContext(found)
      secure.setSecureContext(found)
      current = found
      refused = ''
      log.info('the TLS certificate was renewed')
    } catch (err) {
      const reason = String(getField(err, 'message'))
      if (reason !== refused) log.warn({ err }, 'a new TLS certificate cannot be used, the last one stays')
      refused = reason
    }
  }

  let checking = false
  const timer = setInterval(() => {
    if (checking) return
    checking = true
    void check(files).finally(() => {
      checking = false
    })
  }, checkMs)
  timer.unref()
  return () => clearInterval(timer)
}
