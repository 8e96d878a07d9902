#!/bin/sh
echo "the word is $word"
