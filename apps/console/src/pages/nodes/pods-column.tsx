import type { Container } from '@crux/contract'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import type { Column } from '../../table/columns.ts'
import { containerKey } from './containers.ts'
import { PodCount } from './PodCount.tsx'
import { PodList } from './PodList.tsx'

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
  if (!container.pods)
    return (
      <span data-no-value className="text-ink-3">
        -
      </span>
    )
  if (container.pods.total === 0)
    return (
      <span className="text-ink-2">
        <PodCount container={container} />
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
      <PodCount container={container} />
    </button>
  )
}
