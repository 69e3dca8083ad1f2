#!/bin/sh
if grep -q -- --force; then
  echo "never with force" >&2
  exit 2
fi
