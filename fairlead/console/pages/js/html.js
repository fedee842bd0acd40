// Preact, its hooks and htm, from the one vendored file; everything else imports them from here.
export {
  h,
  html,
  render,
  Component,
  createContext,
  useState,
  useReducer,
  useEffect,
  useLayoutEffect,
  useRef,
  useMemo,
  useCallback,
  useContext,
  useErrorBoundary,
} from "../vendor/htm/standalone.module.js";
