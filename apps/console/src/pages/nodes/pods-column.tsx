import type { Container } from '@crux/contract'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Column } from '../../table/columns.ts'
import { containerKey } from './containers.ts'
import { PodList } from './PodList.tsx'
import { countPods } from './pods.ts'

export type PodFolds = ReturnType<typeof usePodFolds>

/** Which workloads of a cluster show their pods below their row. */
export function usePodFolds(teamSlug: string, nodeId: string) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const isOpen = (container: Container) => open.has(containerKey(container))
  return {
    isOpen,
    toggle: (container: Container) => {
      const key = containerKey(container)
      setOpen((before) => new Set(before.has(key) ? [...before].filter((one) => one !== key) : [...before, key]))
    },
    below: (container: Container) =>
      container.pods && isOpen(container)
        ? {
            lines: container.pods.items.length,
            content: <PodList teamSlug={teamSlug} nodeId={nodeId} container={container} />,
          }
        : undefined,
  }
}

export const podsColumn = (header: string, { isOpen, toggle }: PodFolds): Column<Container> => ({
  id: 'pods',
  header,
  cell: (container) => (
    <PodsButton container={container} isOpen={isOpen(container)} onToggle={() => toggle(container)} />
  ),
})

function PodsButton({ container, isOpen, onToggle }: { container: Container; isOpen: boolean; onToggle: () => void }) {
  const { t } = useTranslation('nodes')
  if (!container.pods)
    return (
      <span data-no-value className="text-ink-3">
        -
      </span>
    )
  const Chevron = isOpen ? ChevronDown : ChevronRight
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={onToggle}
      className="inline-flex min-h-6 items-center gap-1 rounded-sm text-ink-2 tabular-nums hover:text-ink"
    >
      <Chevron aria-hidden className="size-3.5!" />
      {t('pods.ready', countPods(container.pods))}
    </button>
  )
}
