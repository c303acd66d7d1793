import type { Container } from '@crux/contract'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { live } from '../../api/live.ts'
import { toastText } from '../../components/toasts.tsx'
import { containerKey, containerName, isReached, operationTimeoutMs, type PendingOperation } from './containers.ts'

type Send = (container: Container, operation: PendingOperation['operation']) => void

/** Remembers a command until the live list shows its effect, the server refuses it, or it takes too long. */
export function useContainerOperations(containers: readonly Container[] | null, path: string, send: Send) {
  const { t } = useTranslation(['nodes', 'common'])
  const [pending, setPending] = useState<ReadonlyMap<string, PendingOperation>>(new Map())

  useEffect(() => {
    if (pending.size === 0 || !containers) return
    const byKey = new Map(containers.map((container) => [containerKey(container), container]))
    const open = [...pending].filter(([key, operation]) => !isReached(operation, byKey.get(key)))
    if (open.length < pending.size) setPending(new Map(open))
  }, [containers, pending])

  useEffect(() => {
    if (pending.size === 0) return
    // The channel's own toast shows the refusal.
    const stop = live.onError((failure) => failure.path === path && setPending(new Map()))
    const oldest = Math.min(...[...pending.values()].map((operation) => operation.askedAt))
    const timer = setTimeout(
      () => {
        setPending((all) => new Map([...all].filter(([, operation]) => operation.askedAt > oldest)))
        toastText(t('containers.slow'))
      },
      Math.max(0, oldest + operationTimeoutMs - Date.now()),
    )
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [pending, path, t])

  return {
    getPending: (container: Container) => pending.get(containerKey(container))?.operation,
    run: (container: Container, operation: PendingOperation['operation']) => {
      send(container, operation)
      const asked: PendingOperation = { operation, startedAt: container.startedAt ?? null, askedAt: Date.now() }
      setPending((all) => new Map(all).set(containerKey(container), asked))
    },
    getName: containerName,
  }
}
