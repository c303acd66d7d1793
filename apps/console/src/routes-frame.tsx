import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute } from '@tanstack/react-router'
import { NotFound } from './components/NotFound.tsx'
import { SkeletonFrame } from './components/Skeletons.tsx'
import { requireSession } from './entry.ts'
import { BareFrame } from './frame/BareFrame.tsx'
import { CrashPage } from './frame/CrashPage.tsx'
import { RootLayout } from './frame/RootLayout.tsx'
import { page } from './loading/page.ts'

export const root = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  component: RootLayout,
  errorComponent: CrashPage,
  notFoundComponent: NotFound,
})

// Pages without the frame: sign-in, errors, the first team.
export const bare = createRoute({ getParentRoute: () => root, id: 'bare', component: BareFrame })

// Pages inside the frame. Those outside a team work with the current one.
export const app = createRoute({
  getParentRoute: () => root,
  id: 'app',
  beforeLoad: requireSession,
  component: page([], () => import('./frame/AppFrame.tsx'), 'AppFrame'),
  pendingComponent: SkeletonFrame,
})
