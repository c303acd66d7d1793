import type { icons } from '@crux/contract'
import { Bird, Bug, Cat, Dog, type LucideIcon, Shrimp, Snail, Squirrel } from 'lucide-react'

export type AnimalName = (typeof icons)[number]

/** The picture of a registry or node: an animal from the product's list. */
export function AnimalIcon({ name, className }: { name: AnimalName; className?: string }) {
  const Icon: LucideIcon | undefined = ready[name]
  if (Icon) return <Icon aria-hidden className={className} />
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      className={className ? `lucide ${className}` : 'lucide'}
    >
      <path d={drawn[name] ?? ''} />
    </svg>
  )
}

const ready: Partial<Record<AnimalName, LucideIcon>> = {
  bug: Bug,
  cat: Cat,
  crow: Bird,
  dog: Dog,
  shrimp: Shrimp,
  snail: Snail,
  squirrel: Squirrel,
}

/** Our own drawings on lucide's grid, for the animals that it does not have. */
const drawn: Partial<Record<AnimalName, string>> = {
  goat: 'M8 9C5 8 4 5 5 3M16 9c3-1 4-4 3-6M8 9h8l-1 8-3 3-3-3zM12 20v2M10 12h.01M14 12h.01',
  jellyfish: 'M4 12a8 8 0 0 1 16 0zM7 12c0 3-1 4 0 8M12 12c0 3-1 5 0 9M17 12c0 3 1 4 0 8',
  kangaroo: 'M17 3l1 3 2 1-1 2h-3c-1 3-2 4-2 7l2 4h-3l-2-3c-1-1-1-2 0-4M16 6c-3 1-8 3-9 9l-1 5H3',
  shark: 'M2 14c4-5 12-6 20-3-3 5-12 7-20 3zM11 8l4-5 1 6M2 14v-4l3 2M18 12h.01M12 16v2',
  sloth: 'M2 4h20M7 4v6a5 5 0 0 0 10 0V4M9 10h.01M15 10h.01M10 12.5c1 .7 3 .7 4 0M8 15c-2 2-2 5 0 6M16 15c2 2 2 5 0 6',
  buffalo: 'M7 8C3 8 2 5 3 3M17 8c4 0 5-3 4-5M7 8h10l-1 9a4 4 0 0 1-8 0zM10 12h.01M14 12h.01M9.5 17h5',
  llama: 'M9 3l1 3M15 3l-1 3M9 6h6v5l-1 10h-4L9 11zM11 9h.01M13.5 9h.01M11 12h2',
  donkey: 'M8 2v6M16 2v6M8 8h8l-1 9a3 3 0 0 1-6 0zM10.5 11h.01M13.5 11h.01M10 17h4',
  flamingo: 'M8 4a3 3 0 0 1 6 0c0 3-5 4-4 8 0 3 3 4 6 3 2-1 3-3 4-3-1-3-5-4-8-2M8 4L6 6l1 2M12 15v7M14 15l3 3-5 2',
  lion: 'M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zM12 6a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM10 11h.01M14 11h.01M12 13v1M10.5 15c1 .7 2 .7 3 0',
  hedgehog: 'M3 17c0-6 4-10 9-10 4 0 7 3 9 8l1 2zM5 12L3 9M8 9L7 5M12 7V3M16 9l1-3M17 14h.01M7 17v2M15 17v2',
  giraffe: 'M14 3l1 2M17 3v2M13 5h4l3 3-1 2h-4l-1 11M13 5L8 21M11 12h2M10 16h3M17 7h.01',
  penguin:
    'M12 2a5 5 0 0 0-5 5v8a5 6 0 0 0 10 0V7a5 5 0 0 0-5-5zM7 10l-3 6M17 10l3 6M10.5 7h.01M13.5 7h.01M11 9h2l-1 2zM9 21h2M13 21h2',
  bat: 'M12 8l-2-3v4C7 6 4 7 1 8c2 2 2 4 2 7 2-2 4-2 5 0 1-1 3-1 4 3 1-4 3-4 4-3 1-2 3-2 5 0 0-3 0-5 2-7-3-1-6-2-9 1V5z',
  goose: 'M6 3h3a3 3 0 0 1 3 3c0 4-1 5 0 7 3 0 7-1 9 0-1 5-4 7-8 7-5 0-6-4-5-8 1-3 1-5-2-5l-3 1zM9 6h.01M12 20v2',
  seal: 'M3 20c2-8 4-14 8-16 3-1 6 1 5 4-1 2-2 3-1 6 1 2 4 3 6 6-6 1-12 1-18 0zM13 7h.01M16 8l3-1M16 9l3 1M9 15l-3 3',
  spider:
    'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 4a2 2 0 1 0 0 4M8 10L4 8 3 4M16 10l4-2 1-4M8 12H2M16 12h6M8 14l-4 2-1 4M16 14l4 2 1 4',
  monkey:
    'M12 4a7 7 0 0 0-7 7c0 5 3 9 7 9s7-4 7-9a7 7 0 0 0-7-7zM5 10a2 2 0 1 0 0 4M19 10a2 2 0 1 1 0 4M9 10c1-2 2-1 3 0 1-1 2-2 3 0 1 2 0 3 0 4a3 3 0 0 1-6 0c0-1-1-2 0-4zM11 15h2',
  gecko:
    'M12 2a2 2 0 0 1 2 3c2 3 2 6 0 9-2 4 0 7 3 8M10 5c-2 3-2 6 0 9 1 2 1 4 0 6M10 7L6 6M14 7l4-1M10 13l-4 2M14 13l4 2M12 5h.01',
  owl: 'M5 4c2 1 4 1 7 1s5 0 7-1v10a7 7 0 0 1-14 0zM9 7a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM15 7a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM12 13l-1 2h2z',
  rhino: 'M3 10c1-3 5-4 9-4h3l4-4c0 3-1 5-1 6l3-1c-1 3-2 4-3 5 0 4-3 6-7 6H8c-4 0-6-4-5-8zM13 10h.01M6 6L5 3l4 2',
  bee: 'M8 14a4 7 0 0 1 8 0 4 7 0 0 1-8 0M8.5 12h7M8 15h8M9 18h6M9 9C6 4 2 5 2 8s4 4 6 3M15 9c3-5 7-4 7-1s-4 4-6 3M11 7L9 4M13 7l2-3',
  dino: 'M14 3h5a2 2 0 0 1 2 2v3h-5v3c2 2 2 5 1 7v3h-2v-3h-4v3H9v-3c-4 0-6-3-7-7 2 2 4 3 6 2 3-1 4-4 4-8a2 2 0 0 1 2-2zM17 5.5h.01M16 11h3',
  sheep:
    'M8 8a3 3 0 0 1 4-4 3 3 0 0 1 4 4M8 8c-3-1-5 0-5 1s2 2 4 1M16 8c3-1 5 0 5 1s-2 2-4 1M7 9h10l-1 8a4 4 0 0 1-8 0zM10 13h.01M14 13h.01M11 17h2',
}
