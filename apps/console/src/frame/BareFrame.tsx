import { Outlet } from '@tanstack/react-router'

/** Pages without sidebar: one column in the middle. */
export function BareFrame() {
  return (
    <main className="grid min-h-dvh grid-cols-1 place-items-center p-6">
      <Outlet />
    </main>
  )
}
