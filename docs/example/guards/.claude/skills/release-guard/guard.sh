#!/bin/sh
if grep -q "npm publish"; then
  echo "publishing is left to a person" >&2
  exit 2
fi
