import { useLocation, useNavigate } from '@tanstack/react-router'

/**
 * A form that is open while the address ends in #new (or #edit): opening adds the anchor, closing removes it, so Back closes it
 * and a link can open it.
 */
export function useAnchor(anchor: 'new' | 'edit' | 'copy'): { open: boolean; show: () => void; close: () => void } {
  const hash = useLocation({ select: (location) => location.hash })
  const navigate = useNavigate()
  const set = (value: string) => void navigate({ to: '.', search: true, hash: value, resetScroll: false })
  return { open: hash === anchor, show: () => set(anchor), close: () => set('') }
}
