import type { Menu } from 'radix-ui/internal'
import { createContext, useContext } from 'react'

/** What entries are made of. It comes with the open menu, so that a page with closed menus does not load it. */
export const MenuParts = createContext<Pick<typeof Menu, 'Item' | 'CheckboxItem' | 'Label' | 'Separator'> | null>(null)

export function useMenuParts() {
  const parts = useContext(MenuParts)
  if (!parts) throw new Error('Entries stand inside a menu')
  return parts
}
