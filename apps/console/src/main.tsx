import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './styles/app.css'
import { queryClient } from './api/client.ts'
import { registerQuickActions } from './frame/quick-actions.ts'
import { startTexts } from './locales/i18n.ts'
import { router } from './routes.tsx'
import { hasAnyConsent } from './usage/consent.ts'

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')

// Everything is here: start.js need not try again.
document.documentElement.dataset.started = 'true'
try {
  sessionStorage.removeItem('crux-start-tries')
} catch {
  // See start.js: without storage there is no count.
}

registerQuickActions(() => import('./quick-actions.tsx').then((module) => module.quickActionSources))

// Without a consent in this browser nothing of it is loaded.
if (hasAnyConsent()) void import('./usage/usage.ts').then(({ startUsage }) => startUsage(router))

void startTexts().then(() =>
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  ),
)
